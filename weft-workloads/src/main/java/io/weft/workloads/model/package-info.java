// SPDX-License-Identifier: Apache-2.0
/// The networks of the papers as TensorFlow graphs, and the workloads that name them. A model is
/// confined to one thread; the other values are immutable.
@NullMarked
package io.weft.workloads.model;

import org.jspecify.annotations.NullMarked;
