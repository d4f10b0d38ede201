// SPDX-License-Identifier: Apache-2.0
package io.weft.qa.strangers;

import io.weft.qa.strangers.Attack.Victim;
import io.weft.transport.spi.Secret;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

/// Strangers at all ports of a job, on virtual threads, until they are closed. They send random
/// bytes, HTTP, TLS, frames of impossible lengths, replayed handshakes, and wrong secrets. A crowd
/// of silent connections at each port reconnects when it is dropped. Safe for use by any thread.
public final class Strangers implements AutoCloseable {

  private static final long ROUND_NANOS = TimeUnit.MILLISECONDS.toNanos(50);
  private static final long RETURN_NANOS = TimeUnit.SECONDS.toNanos(1);

  /// The limit on concurrent attacks on a port. An attack without an answer waits up to 6 s.
  private static final int MOST_AT_ONCE = 64;

  private static final int MOST_RETURNS = 100;

  private final List<OpenPort> doors = new ArrayList<>();
  private final Victim job;
  private final int crowd;
  private final Random random;
  private final Map<Attack, Long> visits = new ConcurrentHashMap<>();
  private final AtomicLong silent = new AtomicLong();
  private final ConcurrentLinkedQueue<String> letIn = new ConcurrentLinkedQueue<>();
  private final List<Thread> threads = new ArrayList<>();

  private Strangers(Victim job, int crowd, long seed) {
    this.job = job;
    this.crowd = crowd;
    this.random = new Random(seed);
  }

  /// Starts strangers at these ports of the job `job`, from which they have a recorded handshake.
  ///
  /// @param secret the secret of the recorded handshake
  /// @param crowd number of silent connections at each port
  public static Strangers at(
      List<InetSocketAddress> ports, String job, Secret secret, int crowd, long seed)
      throws IOException {
    var strangers = new Strangers(new Victim(job, secret), crowd, seed);
    for (InetSocketAddress port : ports) {
      strangers.doors.add(OpenPort.at(port));
    }
    for (OpenPort door : strangers.doors) {
      strangers.threads.add(Thread.startVirtualThread(() -> strangers.besiege(door)));
      strangers.threads.add(Thread.startVirtualThread(() -> strangers.crowd(door)));
    }
    return strangers;
  }

  /// Returns the number of visits of each kind so far. Those of the silent crowd are `SILENT`.
  public Map<String, Long> visits() {
    var counts = new TreeMap<String, Long>();
    for (Attack attack : Attack.values()) {
      counts.put(attack.name(), visits.getOrDefault(attack, 0L));
    }
    counts.put("SILENT", silent.get());
    return counts;
  }

  /// Returns descriptions of the strangers that were let in, which must be empty.
  public List<String> letIn() {
    return List.copyOf(letIn);
  }

  private void besiege(OpenPort door) {
    var free = new Semaphore(MOST_AT_ONCE);
    var seeds = new Random(random.nextLong());
    while (!Thread.currentThread().isInterrupted()) {
      for (Attack attack : Attack.values()) {
        if (free.tryAcquire()) {
          long seed = seeds.nextLong();
          Thread.startVirtualThread(
              () -> {
                visit(attack, door, new Random(seed));
                free.release();
              });
        }
      }
      LockSupport.parkNanos(ROUND_NANOS);
    }
    free.acquireUninterruptibly(MOST_AT_ONCE);
  }

  private void visit(Attack attack, OpenPort door, Random chance) {
    try {
      if (attack.isLetIn(door, job, chance)) {
        letIn.add(attack + " was let in at " + door);
      }
    } catch (IOException cutShort) {
      assert cutShort != null; // The expected end.
    }
    visits.merge(attack, 1L, Long::sum);
  }

  private void crowd(OpenPort door) {
    var here = new ArrayList<SocketChannel>();
    try {
      while (!Thread.currentThread().isInterrupted()) {
        here.removeIf(Strangers::isDropped);
        int most = here.isEmpty() ? crowd : MOST_RETURNS;
        for (int i = 0; i < most && here.size() < crowd; i++) {
          SocketChannel one = SocketChannel.open();
          here.add(one);
          one.configureBlocking(false);
          boolean unused = one.connect(door.address());
          silent.incrementAndGet();
        }
        LockSupport.parkNanos(RETURN_NANOS);
      }
    } catch (IOException full) {
      letIn.add("the crowd could not connect: " + full);
    } finally {
      here.forEach(Strangers::close);
    }
  }

  private static boolean isDropped(SocketChannel one) {
    try {
      boolean dropped = one.finishConnect() && one.read(ByteBuffer.allocate(256)) < 0;
      if (dropped) {
        one.close();
      }
      return dropped;
    } catch (IOException gone) {
      close(one);
      return true;
    }
  }

  private static void close(SocketChannel one) {
    try {
      one.close();
    } catch (IOException alreadyGone) {
      assert !one.isOpen();
    }
  }

  /// Ends all strangers. Those waiting for an answer end within 6 s.
  @Override
  public void close() {
    threads.forEach(Thread::interrupt);
    for (Thread thread : threads) {
      try {
        thread.join();
      } catch (InterruptedException interrupted) {
        Thread.currentThread().interrupt();
        return;
      }
    }
  }
}
