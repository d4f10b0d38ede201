// SPDX-License-Identifier: Apache-2.0
/// Graphs that run over the tasks of a cluster. A server on each task holds parts of graphs and
/// their variables; a session registers a graph and runs its steps (ADR 0048). Any thread, one step
/// of a session at a time.
@NullMarked
package io.weft.tensorflow.session;

import org.jspecify.annotations.NullMarked;
