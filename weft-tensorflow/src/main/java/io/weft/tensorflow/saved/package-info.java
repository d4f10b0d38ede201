// SPDX-License-Identifier: Apache-2.0
/// Exports for programs without Weft: models to serve, and checkpoints, written from a session
/// whose graph contains Weft's ops. All operations are local to one rank.
@NullMarked
package io.weft.tensorflow.saved;

import org.jspecify.annotations.NullMarked;
