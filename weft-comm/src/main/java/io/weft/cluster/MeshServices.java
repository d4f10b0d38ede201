// SPDX-License-Identifier: Apache-2.0
package io.weft.cluster;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.List;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// The services of one mesh. Each receives the messages with its id, and all are notified of the
/// events of the mesh, in the order of registration. Confined to the progress thread except `busy`
/// and `hasCommands`.
final class MeshServices {

  private static final Logger LOG = LoggerFactory.getLogger(MeshServices.class);

  /// Number of ids: a nonnegative id fits a byte, and the mesh's own id is negative.
  private static final int MOST = Byte.MAX_VALUE + 1;

  private final MeshService[] all;
  private final @Nullable MeshService[] byId = new MeshService[MOST];

  /// Throws `IllegalArgumentException` for an id that is out of range or used twice.
  MeshServices(List<MeshService> services) {
    this.all = services.toArray(MeshService[]::new);
    for (MeshService service : all) {
      int id = service.id();
      if (id < 0 || byId[id] != null) {
        throw new IllegalArgumentException(
            "service id " + id + " is taken or not one of 0 to " + (MOST - 1));
      }
      byId[id] = service;
    }
  }

  /// Passes a message to its service. Returns false if there is none, which means that the peer
  /// speaks another protocol.
  ///
  /// Hot path.
  boolean onMessage(int fromRank, MemorySegment message) {
    int id = message.byteSize() == 0 ? -1 : message.get(ValueLayout.JAVA_BYTE, 0);
    MeshService service = id < 0 ? null : byId[id];
    if (service == null) {
      return false;
    }
    service.onMessage(fromRank, message);
    return true;
  }

  void onStart(Mesh mesh) {
    forEach(service -> service.onStart(mesh));
  }

  /// Hot path.
  int takeCommands(long nowNanos) {
    int work = 0;
    for (int i = 0; i < all.length; i++) {
      work += all[i].takeCommands(nowNanos);
    }
    return work;
  }

  /// Hot path.
  int work(long nowNanos) {
    int work = 0;
    for (int i = 0; i < all.length; i++) {
      work += all[i].work(nowNanos);
    }
    return work;
  }

  void onPeerAdded(int rank) {
    forEach(service -> service.onPeerAdded(rank));
  }

  String onPeerGone(int rank, PeerExit how) {
    return Arrays.stream(all)
        .map(service -> service.onPeerGone(rank, how))
        .filter(words -> !words.isEmpty())
        .collect(Collectors.joining("; "));
  }

  void onExcluded(int witness, String why) {
    forEach(service -> service.onExcluded(witness, why));
  }

  boolean hasPending(int rank) {
    for (int i = 0; i < all.length; i++) {
      if (all[i].hasPending(rank)) {
        return true;
      }
    }
    return false;
  }

  /// Hot path.
  boolean busy() {
    for (int i = 0; i < all.length; i++) {
      if (all[i].busy()) {
        return true;
      }
    }
    return false;
  }

  /// Hot path.
  boolean hasCommands() {
    for (int i = 0; i < all.length; i++) {
      if (all[i].hasCommands()) {
        return true;
      }
    }
    return false;
  }

  void onClose() {
    forEach(service -> end(service, service::onClose));
  }

  void onCrash(Throwable cause) {
    forEach(service -> end(service, () -> service.onCrash(cause)));
  }

  void onClosing() {
    forEach(service -> end(service, service::onClosing));
  }

  private void forEach(Consumer<MeshService> step) {
    for (MeshService service : all) {
      step.accept(service);
    }
  }

  /// Runs a final step. An exception of one service does not keep the others from theirs.
  private static void end(MeshService service, Runnable step) {
    try {
      step.run();
    } catch (RuntimeException | Error e) {
      LOG.error("service {} of the mesh could not end in order", service.id(), e);
    }
  }
}
