// SPDX-License-Identifier: Apache-2.0
/// Tensors that are kept until their consumers request them, by step. The `Send` and `Recv`
/// operations of a distributed graph are built on it. Any thread.
@NullMarked
package io.weft.rendezvous;

import org.jspecify.annotations.NullMarked;
