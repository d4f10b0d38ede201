// SPDX-License-Identifier: Apache-2.0
/// Embeddings whose rows lie in tables of a parameter server, as ops inside a graph: lookups,
/// pushes of gradients, and rows fetched ahead. Graphs are built on the user's thread; kernels
/// start on TensorFlow's threads and complete on the progress thread.
@NullMarked
package io.weft.tensorflow.embedding;

import org.jspecify.annotations.NullMarked;
