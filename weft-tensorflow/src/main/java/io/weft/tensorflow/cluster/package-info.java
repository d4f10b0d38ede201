// SPDX-License-Identifier: Apache-2.0
/// Which tasks a TensorFlow cluster has, where they are, and the names of their devices. Plain
/// data, read from `TF_CONFIG`; nothing here opens a connection or needs TensorFlow's libraries.
@NullMarked
package io.weft.tensorflow.cluster;

import org.jspecify.annotations.NullMarked;
