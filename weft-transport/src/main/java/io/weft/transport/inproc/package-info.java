// SPDX-License-Identifier: Apache-2.0
/// The in-process transport, whose peers in one JVM find each other by name. Each transport is
/// confined to its polling thread; two transports share only one `InprocConnection` for each pair
/// of endpoints.
@NullMarked
package io.weft.transport.inproc;

import org.jspecify.annotations.NullMarked;
