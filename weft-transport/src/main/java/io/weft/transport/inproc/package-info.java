// SPDX-License-Identifier: Apache-2.0
/// The in-process transport: peers in one JVM, found by name. Each transport is confined to the
/// thread that polls it; two peers share one `InprocConnection` per endpoint and nothing else.
@NullMarked
package io.weft.transport.inproc;

import org.jspecify.annotations.NullMarked;
