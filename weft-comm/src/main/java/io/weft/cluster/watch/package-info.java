// SPDX-License-Identifier: Apache-2.0
/// Liveness: the ranks that owe a sign of life, those that have shown one, and the visible state of
/// a silent rank's process. Pure, except for reading the state of another process of this host.
@NullMarked
package io.weft.cluster.watch;

import org.jspecify.annotations.NullMarked;
