// SPDX-License-Identifier: Apache-2.0
/// The C kernel and op interface of `libtensorflow_framework`, bound with `java.lang.foreign`.
/// There is one class per group of functions, and each signature is a constant below its C
/// declaration. Native pointers are `long`s; 0 is null. The only package with restricted calls. Any
/// thread, as in TensorFlow's own functions.
@NullMarked
package io.weft.tensorflow.ffm;

import org.jspecify.annotations.NullMarked;
