// SPDX-License-Identifier: Apache-2.0
package io.weft.dataparallel.frame;

/// What one rank tells all others.
public sealed interface Announcement {

  /// It has submitted this tensor.
  record Submitted(String name, TensorSignature signature) implements Announcement {}

  /// It has submitted this tensor and given it up, before it could announce it: the tensor fails on
  /// all ranks, and where it is submitted later, then.
  record Withdrawn(String name, TensorSignature signature) implements Announcement {}

  /// The deadline of a tensor that it has announced has passed.
  record Expired(String name) implements Announcement {}

  /// It has no more data.
  record Joined() implements Announcement {}

  /// It closes the layer.
  record Leaving() implements Announcement {}
}
