// SPDX-License-Identifier: Apache-2.0
package io.weft.shm;

import static org.assertj.core.api.Assertions.assertThat;

import io.weft.transport.Endpoint;
import io.weft.transport.MemoryRegion;
import io.weft.transport.RemoteSlice;
import java.io.IOException;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/// Checks a job on several hosts: shared memory within a host, TCP between hosts.
class MixedHostsTest {

  private final List<Peer> peers = new ArrayList<>();

  private Peer open(ProcessDomain host) {
    Peer peer = new Peer(peers.size(), host);
    peers.add(peer);
    return peer;
  }

  @AfterEach
  void close() {
    peers.forEach(Peer::close);
  }

  @Test
  void memoryIsSharedOnlyWithinAHost() throws IOException {
    Peer[] all = {
      open(ProcessDomain.here()),
      open(ProcessDomain.here()),
      open(new ProcessDomain("another")),
      open(ProcessDomain.here())
    };
    MemoryRegion[] into = new MemoryRegion[all.length];
    for (int i = 0; i < all.length; i++) {
      into[i] = all[i].region(4 * 1000);
      for (int j = i + 1; j < all.length; j++) {
        Peer.connect(all[i], all[j], j);
      }
    }
    for (int i = 0; i < all.length; i++) {
      for (int j = 0; j < all.length; j++) {
        if (i != j) {
          exchange(all[i], all[j], i, j, into[j]);
        }
      }
    }
    for (int j = 0; j < all.length; j++) {
      Peer one = all[j];
      Peer.until("messages", () -> one.messages.size() == 3 && one.notified.size() == 3, all);
      for (int i = 0; i < all.length; i++) {
        if (i != j) {
          assertThat(into[j].segment().get(ValueLayout.JAVA_INT, i * 1000L)).isEqualTo(100 + i);
        }
      }
    }
  }

  private void exchange(Peer from, Peer to, int i, int j, MemoryRegion into) {
    Peer[] all = peers.toArray(new Peer[0]);
    Endpoint endpoint = from.to(j);
    boolean shared = i != 2 && j != 2;
    assertThat(endpoint.map(into.export()) != null).as("%d to %d", i, j).isEqualTo(shared);
    Peer.post(() -> endpoint.trySend(Peer.bytes(i, j)), all);
    MemoryRegion source = from.region(1000);
    source.segment().set(ValueLayout.JAVA_INT, 0, 100 + i);
    Peer.Done done = new Peer.Done();
    RemoteSlice target = new RemoteSlice(into.export(), i * 1000L, 1000);
    Peer.post(() -> endpoint.tryWrite(source.slice(0, 1000), target, i, done), all);
    Peer.until("written", () -> done.ended, all);
    assertThat(done.failure).isNull();
  }

  @Test
  void awaitReturnsForSharedMemoryAndForSockets() throws IOException, InterruptedException {
    Peer near = open(ProcessDomain.here());
    Peer waiter = open(ProcessDomain.here());
    Peer far = open(new ProcessDomain("another"));
    Endpoint inside = Peer.connect(near, waiter, 1);
    Endpoint between = Peer.connect(far, waiter, 1);
    Thread thread =
        new Thread(
            () -> {
              while (waiter.messages.size() < 200) {
                if (waiter.transport.poll(System.nanoTime()) == 0) {
                  waiter.transport.await(30_000_000_000L);
                }
              }
            });
    thread.start();
    for (int i = 0; i < 100; i++) {
      Peer.post(() -> inside.trySend(Peer.bytes(1)), near, far);
      near.transport.poll(System.nanoTime());
      Peer.post(() -> between.trySend(Peer.bytes(2)), near, far);
      far.transport.poll(System.nanoTime());
    }
    long start = System.nanoTime();
    while (thread.isAlive() && System.nanoTime() - start < Peer.LIMIT_NANOS / 2) {
      near.transport.poll(System.nanoTime());
      far.transport.poll(System.nanoTime());
      thread.join(1);
    }
    assertThat(thread.isAlive()).as("still waiting, with %d", waiter.messages.size()).isFalse();
  }
}
