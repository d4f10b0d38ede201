// SPDX-License-Identifier: Apache-2.0
package io.weft.dataparallel.frame;

/// An announcement of one rank to all others.
public sealed interface Announcement {

  /// Announces that the rank has submitted this tensor.
  record Submitted(String name, TensorSignature signature) implements Announcement {}

  /// Announces that the rank has submitted this tensor and withdrawn it before it could announce
  /// it. The tensor fails on all ranks. On a rank that submits it later, it fails then.
  record Withdrawn(String name, TensorSignature signature) implements Announcement {}

  /// Announces that the deadline of a tensor that the rank has announced has passed.
  record Expired(String name) implements Announcement {}

  /// Announces that the rank has no more data.
  record Joined() implements Announcement {}

  /// Announces that the rank closes the layer.
  record Leaving() implements Announcement {}
}
