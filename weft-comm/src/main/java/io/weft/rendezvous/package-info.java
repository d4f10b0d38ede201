// SPDX-License-Identifier: Apache-2.0
/// Tensors that wait for those who ask for them, by step: what `Send` and `Recv` of a graph that is
/// spread over ranks stand on. Any thread.
@NullMarked
package io.weft.rendezvous;

import org.jspecify.annotations.NullMarked;
