// SPDX-License-Identifier: Apache-2.0
/// The Acoustic data set: sounds of vehicles in 50 numbers each, as LIBSVM text. Any thread may use
/// it.
@NullMarked
package io.weft.workloads.vehicles;

import org.jspecify.annotations.NullMarked;
