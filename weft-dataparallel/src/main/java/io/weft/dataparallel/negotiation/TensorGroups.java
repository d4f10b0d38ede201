// SPDX-License-Identifier: Apache-2.0
package io.weft.dataparallel.negotiation;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// Tensors of groups that wait until their group is whole; or, once one of them has failed, fail
/// with it. Confined to one thread.
final class TensorGroups {

  private static final class Group {
    final List<ReadyTensor> held = new ArrayList<>();
    int failed;
    @Nullable FailedTensor cause;
  }

  private final Map<String, Group> groups = new HashMap<>();

  /// A tensor of a group is ready: adds to `ready` the whole group if this was its last one; or to
  /// `failed` this tensor if the group has failed.
  void add(ReadyTensor tensor, List<ReadyTensor> ready, List<FailedTensor> failed) {
    String name = tensor.signature().group();
    Group group = groups.computeIfAbsent(name, key -> new Group());
    FailedTensor cause = group.cause;
    if (cause != null) {
      failed.add(new FailedTensor(tensor.name(), cause.culprit(), cause.message()));
      group.failed++;
    } else {
      group.held.add(tensor);
      if (group.held.size() == tensor.signature().groupSize()) {
        ready.addAll(group.held);
        groups.remove(name);
      }
    }
    forgetIfOver(name, group, tensor.signature().groupSize());
  }

  /// A tensor of this group has failed, and so do those that were held.
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
