// SPDX-License-Identifier: Apache-2.0
/// The tasks of a TensorFlow cluster, their addresses and their device names. Plain data read from
/// `TF_CONFIG`; this package opens no connections and does not need TensorFlow's libraries.
@NullMarked
package io.weft.tensorflow.cluster;

import org.jspecify.annotations.NullMarked;
