// SPDX-License-Identifier: Apache-2.0
/// What every transport must do, as a test suite: extend `TransportContract`. Test threads.
@NullMarked
package io.weft.testkit.transport;

import org.jspecify.annotations.NullMarked;
