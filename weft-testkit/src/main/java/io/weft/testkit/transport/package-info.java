// SPDX-License-Identifier: Apache-2.0
/// The contract of every transport as a test suite, for subclasses of `TransportContract`.
@NullMarked
package io.weft.testkit.transport;

import org.jspecify.annotations.NullMarked;
