// SPDX-License-Identifier: Apache-2.0
package io.weft.dataparallel.negotiation;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// The tensors that wait until their group is complete, or that fail because a tensor of their
/// group has failed. Confined to one thread.
final class TensorGroups {

  private static final class Group {
    final List<ReadyTensor> held = new ArrayList<>();
    int failed;
    @Nullable FailedTensor cause;
  }

  private final Map<String, Group> groups = new HashMap<>();

  /// Adds a ready tensor of a group. If the group is complete, all its tensors are added to
  /// `ready`. If the group has failed, this tensor is added to `failed`.
  void add(ReadyTensor tensor, List<ReadyTensor> ready, List<FailedTensor> failed) {
    String name = tensor.signature().group().name();
    Group group = groups.computeIfAbsent(name, key -> new Group());
    FailedTensor cause = group.cause;
    if (cause != null) {
      failed.add(new FailedTensor(tensor.name(), cause.culprit(), cause.message()));
      group.failed++;
    } else {
      group.held.add(tensor);
      if (group.held.size() == tensor.signature().group().size()) {
        ready.addAll(group.held);
        groups.remove(name);
      }
    }
    forgetIfOver(name, group, tensor.signature().group().size());
  }

  /// Fails the waiting tensors of a group because this tensor has failed.
  void fail(String name, int size, FailedTensor tensor, List<FailedTensor> failed) {
    Group group = groups.computeIfAbsent(name, key -> new Group());
    if (group.cause == null) {
      group.cause =
          new FailedTensor(
              tensor.name(),
              tensor.culprit(),
              "group '" + name + "' fails with one of its tensors: " + tensor.message());
      for (ReadyTensor held : group.held) {
        failed.add(new FailedTensor(held.name(), tensor.culprit(), group.cause.message()));
      }
      group.failed += group.held.size();
      group.held.clear();
    }
    group.failed++;
    forgetIfOver(name, group, size);
  }

  private void forgetIfOver(String name, Group group, int size) {
    if (group.failed >= size) {
      groups.remove(name);
    }
  }
}
