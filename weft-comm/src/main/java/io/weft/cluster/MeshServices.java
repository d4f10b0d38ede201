// SPDX-License-Identifier: Apache-2.0
package io.weft.cluster;

import io.weft.cluster.MeshService.Loss;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.List;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// The services of one mesh: each gets the messages and notifications that bear its number, and all
/// hear what happens to the mesh, in the order in which they were given. Confined to the progress
/// thread but for `busy` and `hasCommands`.
final class MeshServices {

  private static final Logger LOG = LoggerFactory.getLogger(MeshServices.class);

  /// A service's number stands in two bits of an immediate value.
  private static final int MOST = 4;

  private final MeshService[] all;
  private final @Nullable MeshService[] byNumber = new MeshService[MOST];

  /// Throws `IllegalArgumentException` for a number that does not fit or stands twice.
  MeshServices(List<MeshService> services) {
    this.all = services.toArray(MeshService[]::new);
    for (MeshService service : all) {
      int number = service.number();
      if (number < 0 || number >= MOST || byNumber[number] != null) {
        throw new IllegalArgumentException(
            "service number " + number + " is taken or not one of 0 to " + (MOST - 1));
      }
      byNumber[number] = service;
    }
  }

  /// Returns whether there is such a service; if not, the peer speaks another protocol.
  ///
  /// Hot path.
  boolean onMessage(int fromRank, MemorySegment message) {
    int number = message.byteSize() == 0 ? MOST : message.get(ValueLayout.JAVA_BYTE, 0);
    MeshService service = number < 0 || number >= MOST ? null : byNumber[number];
    if (service == null) {
      return false;
    }
    service.onMessage(fromRank, message);
    return true;
  }

  /// Returns whether there is such a service.
  ///
  /// Hot path.
  boolean onNotify(int fromRank, int immediate) {
    MeshService service = byNumber[immediate >>> 30];
    if (service == null) {
      return false;
    }
    service.onNotify(fromRank, immediate);
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

  void onPeerLeft(int rank) {
    forEach(service -> service.onPeerLeft(rank));
  }

  /// Returns what all of them waited for.
  String onPeerLost(int rank, Loss loss) {
    return Arrays.stream(all)
        .map(service -> service.onPeerLost(rank, loss))
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

  /// What one throws at the end keeps none from its own.
  private static void end(MeshService service, Runnable step) {
    try {
      step.run();
    } catch (RuntimeException | Error e) {
      LOG.error("service {} of the mesh could not end in order", service.number(), e);
    }
  }
}
