// SPDX-License-Identifier: Apache-2.0
package io.weft.dataparallel.negotiation;

import io.weft.dataparallel.frame.TensorSignature;

/// A tensor that is ready on all ranks that have not joined.
public record ReadyTensor(String name, TensorSignature signature) {}
