// SPDX-License-Identifier: Apache-2.0
package io.weft.spark;

import io.weft.WeftConfig;
import io.weft.cluster.LaunchEnvironment;
import io.weft.cluster.Store;
import io.weft.cluster.StoreLocation;
import io.weft.cluster.store.JobIdentity;
import io.weft.cluster.store.JobTrust;
import io.weft.cluster.store.SecretFile;
import io.weft.cluster.store.TcpStore;
import io.weft.cluster.store.TcpStoreServer;
import io.weft.comm.CommException;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// The job's store as the task of a rank uses it. Rank 0's task serves it for longer than its rank,
/// so that ranks can report why they ended. One thread.
final class StoreMeeting implements AutoCloseable {

  private static final Logger LOG = LoggerFactory.getLogger(StoreMeeting.class);

  /// The key of the rank that failed first.
  private static final String FAILED = "spark/failed";

  private static final String ENDED = "spark/ended/";
  private static final byte[] YES = {1};

  private final WeftConfig config;
  private final JobTrust trust;
  private final String name;
  private final int rank;
  private final int size;
  private @Nullable TcpStoreServer server;
  private @Nullable TcpStore store;

  /// @param name the name of this attempt of the job, equal on all its ranks
  StoreMeeting(
      WeftConfig config, Map<String, String> environment, String name, int rank, int size) {
    this.config = config;
    this.name = name;
    this.rank = rank;
    this.size = size;
    this.trust =
        JobTrust.of(
            config,
            SecretFile.find(config, environment).orElseThrow(),
            JobIdentity.ofHosted(
                launch(new StoreLocation.Hosted("", 0)), config, new StoreLocation.Hosted("", 0)));
  }

  private LaunchEnvironment launch(StoreLocation.Hosted at) {
    return new LaunchEnvironment(
        "Spark", rank, size, OptionalInt.empty(), OptionalInt.empty(), Optional.of(name), at);
  }

  /// Serves the store on this host, at a port that the kernel chooses. Returns its `HOST:PORT`.
  /// Throws `CommException.Setup` if this host has no such address.
  String serve(String host) {
    InetAddress address;
    try {
      address = InetAddress.getByName(host);
    } catch (UnknownHostException unknown) {
      throw new CommException.Setup(
          "the executor's host name '"
              + host
              + "' has no address here; set SPARK_LOCAL_IP on the executors",
          unknown);
    }
    TcpStoreServer opened = TcpStoreServer.bind(address, 0, trust, config.startDeadline());
    server = opened;
    return opened.location();
  }

  /// Connects with the store of rank 0, and returns the environment in which the rank joins.
  LaunchEnvironment meet(String location) throws InterruptedException {
    StoreLocation.ByRankZero at = StoreLocation.byRankZero(location);
    store = TcpStore.connect(at.host(), at.port(), trust, config.startDeadline());
    return launch(new StoreLocation.Hosted(at.host(), at.port()));
  }

  /// Tells the other ranks that the program of this rank has failed.
  void tellFailure() {
    Store met = store;
    if (met != null) {
      try {
        boolean unused =
            met.putIfAbsent(FAILED, Integer.toString(rank).getBytes(StandardCharsets.UTF_8));
      } catch (CommException.Setup gone) {
        LOG.debug("rank {} cannot tell its failure: {}", rank, gone.getMessage());
      }
    }
  }

  /// Returns the rank whose program failed first, if a program has failed and the store knows it.
  Optional<Integer> failed() {
    Store met = store;
    if (met == null) {
      return Optional.empty();
    }
    try {
      return met.find(FAILED)
          .map(bytes -> Integer.valueOf(new String(bytes, StandardCharsets.UTF_8)));
    } catch (CommException.Setup gone) {
      return Optional.empty();
    }
  }

  /// Declares that the rank has ended. On rank 0, waits until all ranks have, but not longer than
  /// `limit`.
  void end(Duration limit) {
    Store met = store;
    if (met == null) {
      return;
    }
    try {
      met.put(ENDED + rank, YES);
      for (int other = 1; rank == 0 && other < size; other++) {
        var unused = met.get(ENDED + other, limit);
      }
    } catch (CommException.Setup gone) {
      LOG.debug("rank {} does not wait for the others: {}", rank, gone.getMessage());
    } catch (InterruptedException killed) {
      Thread.currentThread().interrupt();
    }
  }

  @Override
  public void close() {
    TcpStore met = store;
    if (met != null) {
      met.close();
    }
    TcpStoreServer opened = server;
    if (opened != null) {
      opened.close();
    }
  }
}
