// SPDX-License-Identifier: Apache-2.0
/// The exchange of tensors between ranks by edge and step: a tensor is kept until its consumer
/// requests it. The `Send` and `Recv` operations of a distributed graph are built on it. Any
/// thread.
@NullMarked
package io.weft.rendezvous;

import org.jspecify.annotations.NullMarked;
