// SPDX-License-Identifier: Apache-2.0
/// Embeddings as ops inside a graph, with rows in tables of a parameter server: lookups, pushes of
/// gradients, and prefetches. Graphs are built on the user's thread; kernels start on TensorFlow's
/// threads and complete on the progress thread.
@NullMarked
package io.weft.tensorflow.embedding;

import org.jspecify.annotations.NullMarked;
