// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.link;

import io.weft.WeftConfig;
import io.weft.agent.AgentConfig;
import io.weft.agent.IdleStrategy;
import io.weft.agent.Ticker;
import io.weft.cluster.LaunchEnvironment;
import io.weft.cluster.store.JobIdentity;
import io.weft.cluster.store.JobStore;
import io.weft.cluster.store.JobTrust;
import io.weft.comm.CommException;
import io.weft.transport.Address;
import io.weft.transport.Endpoint;
import io.weft.transport.FrameSink;
import io.weft.transport.PostResult;
import io.weft.transport.Transport;
import io.weft.transport.TransportException;
import io.weft.transport.limit.ClampedDuration;
import io.weft.transport.spi.Credentials;
import io.weft.transport.spi.TransportConfig;
import io.weft.transport.spi.TransportProvider;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/// The only connection between the two ranks of a measurement. Messages of one byte are `Signal`s
/// between the programs. All other messages belong to the exercise. The main thread waits as a
/// caller of Weft does: it spins if each rank has a core, then yields, then sleeps in the
/// transport. Confined to the main thread.
final class PeerLink implements FrameSink, AutoCloseable {

  private static final long LIMIT_NANOS = 60_000_000_000L;
  private static final long NAP_NANOS = 1_000_000;
  private static final int RANKS = 2;

  /// The greatest number of signals that the peer may send before the first of them is awaited.
  private static final int MOST_UNHEARD = 8;

  private final int rank;
  private final Transport transport;
  private final IdleStrategy idle;
  private final MemorySegment signal = Arena.ofAuto().allocate(1);
  private @Nullable Endpoint endpoint;
  private @Nullable TransportException failure;
  private Ear ear = Ear.DEAF;
  private final byte[] heard = new byte[MOST_UNHEARD];
  private int signals;
  private int taken;

  /// The receiver of an exercise's messages and writes.
  interface Ear {

    /// The receiver between exercises, which ignores everything.
    Ear DEAF = new Ear() {};

    /// Receives a message, which is valid during the call.
    default void message(MemorySegment message) {}

    /// Is notified that a write of the peer has landed.
    default void written(int immediate) {}
  }

  private PeerLink(int rank, TransportProvider provider, TransportConfig config) {
    this.rank = rank;
    this.transport = provider.open(config, this);
    this.idle =
        IdleStrategy.forCaller(
            Ticker.SYSTEM,
            RANKS * transport.pollingThreads(),
            Runtime.getRuntime().availableProcessors(),
            ClampedDuration.nanos(WeftConfig.load().required(AgentConfig.CALLER_SPIN)));
  }

  /// Connects the two ranks that the environment names over the transport that the settings name.
  /// Blocks at most for the start deadline. Throws `CommException.Setup`.
  static PeerLink open(LaunchEnvironment launch, WeftConfig config) throws InterruptedException {
    if (launch.size() != RANKS) {
      throw new CommException.Setup(
          "this measures between 2 ranks, there are " + launch.size() + "; give -np 2", null);
    }
    Duration deadline = config.startDeadline();
    try (JobStore job = JobStore.open(launch, config, System.getenv())) {
      Credentials who =
          new Credentials(JobIdentity.met(job.job(), job.store()), 0, launch.rank(), job.secret());
      TransportConfig how =
          new TransportConfig(job.bind(), deadline, who, JobTrust.encryption(config), config);
      PeerLink link = new PeerLink(launch.rank(), provider(config.transport()), how);
      job.store().put(key(launch.rank()), bytes(link.transport.address()));
      Address peer = address(job.store().get(key(1 - launch.rank()), deadline));
      if (launch.rank() == 1) {
        link.endpoint = link.transport.connect(peer, 0);
        link.say(Signal.READY);
      }
      link.await(Signal.READY);
      if (launch.rank() == 0) {
        link.say(Signal.READY);
      }
      return link;
    }
  }

  private static TransportProvider provider(String scheme) {
    return TransportProvider.find(scheme)
        .orElseThrow(
            () -> new CommException.Setup("no transport '" + scheme + "' on the class path", null));
  }

  private static String key(int rank) {
    return "perf/link/" + rank;
  }

  private static byte[] bytes(Address address) {
    return address.toString().getBytes(StandardCharsets.UTF_8);
  }

  private static Address address(byte[] bytes) {
    return Address.parse(new String(bytes, StandardCharsets.UTF_8));
  }

  int rank() {
    return rank;
  }

  Transport transport() {
    return transport;
  }

  /// Sets the receiver, then waits until the peer's exercise receives too.
  void heardBy(Ear next) {
    ear = next;
    say(Signal.READY);
    await(Signal.READY);
  }

  /// Returns the endpoint of the peer. Throws `IllegalStateException` before the connection.
  Endpoint peer() {
    Endpoint known = endpoint;
    if (known == null) {
      throw new IllegalStateException("rank " + rank + " is not connected yet");
    }
    return known;
  }

  /// Polls until `condition` is true. Throws `TransportException` when the connection is lost and
  /// `IllegalStateException` after 60 s.
  void until(BooleanSupplier condition) {
    long begin = 0;
    idle.reset();
    while (!condition.getAsBoolean()) {
      long now = System.nanoTime();
      if (transport.poll(now) > 0) {
        idle.reset();
      } else if (!idle.idle()) {
        transport.await(NAP_NANOS);
      }
      if (failure != null) {
        throw failure;
      }
      begin = begin == 0 ? now : begin;
      if (now - begin > LIMIT_NANOS) {
        throw new IllegalStateException(
            "rank " + rank + " has heard nothing from its peer in 60 s");
      }
    }
  }

  /// Returns true if the operation was posted, false under back-pressure.
  boolean posted(PostResult result) {
    return switch (result) {
      case POSTED -> true;
      case BACK_PRESSURED -> false;
      case CLOSED ->
          throw new TransportException.EndpointLost(
              "rank " + rank + ": the connection to rank " + (1 - rank) + " is closed", failure);
    };
  }

  /// Posts a message when the transport has room.
  void send(MemorySegment message) {
    until(() -> endpoint != null && posted(peer().trySend(message)));
  }

  /// Sends one signal to the peer's program. The signal is flushed at once, so that no timed part
  /// includes the caller's next work, such as comparing the received data.
  void say(Signal word) {
    signal.set(ValueLayout.JAVA_BYTE, 0, word.letter());
    send(signal);
    transport.flush();
  }

  /// Waits for the peer's next signal and returns it.
  Signal hear() {
    until(() -> signals > taken);
    return Signal.of(heard[taken++ % MOST_UNHEARD]);
  }

  /// Waits for the peer's next signal, which must be `word`.
  void await(Signal word) {
    Signal heard = hear();
    if (heard != word) {
      throw new IllegalStateException("rank " + rank + " awaited " + word + ", heard " + heard);
    }
  }

  /// Waits until the peer has closed its end. By then the last message has arrived.
  void awaitEnd() {
    try {
      until(() -> false);
    } catch (TransportException.EndpointLost ended) {
      // The peer has closed its end.
    }
  }

  @Override
  public void onConnect(Endpoint opened) {
    endpoint = opened;
  }

  @Override
  public void onMessage(Endpoint from, MemorySegment message) {
    if (message.byteSize() == 1) {
      heard[signals++ % MOST_UNHEARD] = message.get(ValueLayout.JAVA_BYTE, 0);
    } else {
      ear.message(message);
    }
  }

  @Override
  public void onNotify(Endpoint from, int immediate) {
    ear.written(immediate);
  }

  @Override
  public void onFailure(Endpoint from, TransportException cause) {
    failure = cause;
  }

  @Override
  public void close() {
    transport.close();
  }
}
