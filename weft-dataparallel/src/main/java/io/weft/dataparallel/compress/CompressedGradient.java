// SPDX-License-Identifier: Apache-2.0
package io.weft.dataparallel.compress;

/// A gradient that is exchanged repeatedly.
///
/// @param name name of the tensor
/// @param elements elements of the tensor
/// @param source the original tensors of the elements
record CompressedGradient(String name, long elements, Element.Source source) {}
