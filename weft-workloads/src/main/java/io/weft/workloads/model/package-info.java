// SPDX-License-Identifier: Apache-2.0
/// The papers' networks as TensorFlow graphs, and the workloads that name them. A model belongs to
/// one thread; the rest is immutable.
@NullMarked
package io.weft.workloads.model;

import org.jspecify.annotations.NullMarked;
