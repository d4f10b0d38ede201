// SPDX-License-Identifier: Apache-2.0
/// Unpacking of TensorFlow's native libraries, before any class of TensorFlow is used.
@NullMarked
package io.weft.tensorflow.natives;

import org.jspecify.annotations.NullMarked;
