// SPDX-License-Identifier: Apache-2.0
/// The HIGGS data set: simulated collisions of particles in 28 numbers each, as CSV. Any thread may
/// use it.
@NullMarked
package io.weft.workloads.collisions;

import org.jspecify.annotations.NullMarked;
