// SPDX-License-Identifier: Apache-2.0
/// What a training leaves for programs without Weft: models to serve and checkpoints, written from
/// a session whose graph holds Weft's ops. Everything here is local to one rank.
@NullMarked
package io.weft.tensorflow.saved;

import org.jspecify.annotations.NullMarked;
