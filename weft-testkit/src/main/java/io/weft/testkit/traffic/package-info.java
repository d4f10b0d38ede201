// SPDX-License-Identifier: Apache-2.0
/// The tensors between workers and parameter servers, for measurements and simulations.
@NullMarked
package io.weft.testkit.traffic;

import org.jspecify.annotations.NullMarked;
