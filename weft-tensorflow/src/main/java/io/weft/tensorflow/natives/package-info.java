// SPDX-License-Identifier: Apache-2.0
/// How TensorFlow's native libraries get onto the disk, before any class of TensorFlow is used.
@NullMarked
package io.weft.tensorflow.natives;

import org.jspecify.annotations.NullMarked;
