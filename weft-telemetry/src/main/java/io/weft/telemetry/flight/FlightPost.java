// SPDX-License-Identifier: Apache-2.0
package io.weft.telemetry.flight;

import io.weft.cluster.Store;
import io.weft.cluster.StoreLocation;
import io.weft.cluster.store.JobTrust;
import io.weft.cluster.store.TcpStore;
import io.weft.comm.CommException;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.zip.GZIPInputStream;
import java.util.zip.GZIPOutputStream;

/// The upload of a rank's log, compressed into one value, to the launcher's store, from a host
/// whose files the launcher cannot read. It makes one attempt: if the store cannot be reached
/// within half a second, the log is not sent.
///
/// @param store the launcher's store
/// @param trust the authentication of the rank at the store
public record FlightPost(StoreLocation.Hosted store, JobTrust trust) implements FlightSink {
  /// Throws `NullPointerException` if a component is null.
  public FlightPost {
    Objects.requireNonNull(store, "store");
    Objects.requireNonNull(trust, "trust");
  }

  /// Short, because a broken network must not keep a rank from ending; a slow network still answers
  /// in time.
  private static final Duration REACH = Duration.ofMillis(500);

  private static final Duration LIMIT = Duration.ofSeconds(3);
  private static final int MOST_BYTES = 1 << 23;

  /// Returns the key of this rank's log in the store.
  public static String key(int rank) {
    return "flight/" + rank;
  }

  @Override
  public void put(FlightLog log) throws IOException {
    try (TcpStore connected =
        TcpStore.connectOnce(store.host(), store.port(), trust, REACH, LIMIT)) {
      connected.put(key(log.self().rank()), packed(log));
    } catch (CommException.Setup refused) {
      throw new IOException(refused.getMessage(), refused);
    }
  }

  /// Decodes the log of this rank, if there is one. Throws `IOException` if the value is not a log.
  public static Optional<FlightLog> find(Optional<byte[]> value, int rank) throws IOException {
    if (value.isEmpty()) {
      return Optional.empty();
    }
    try (var in = new GZIPInputStream(new ByteArrayInputStream(value.get()))) {
      return Optional.of(FlightFile.decoded(in.readNBytes(MOST_BYTES + 1), rank));
    } catch (IllegalArgumentException malformed) {
      throw new IOException("the log of rank " + rank + ": " + malformed.getMessage(), malformed);
    }
  }

  /// Compresses the log to fit the store's values, dropping the older half of its operations as
  /// often as necessary.
  static byte[] packed(FlightLog log) throws IOException {
    FlightLog fitting = log;
    byte[] packed = gzip(fitting.text());
    while (packed.length > Store.MAX_VALUE_BYTES && !fitting.operations().isEmpty()) {
      fitting = newerHalf(fitting);
      packed = gzip(fitting.text());
    }
    return packed;
  }

  private static FlightLog newerHalf(FlightLog log) {
    List<FlightLog.Flight> all = log.operations();
    int less = (all.size() + 1) / 2;
    FlightLog.Counts counts = log.counts();
    return new FlightLog(
        log.self(),
        new FlightLog.Counts(
            counts.writtenNanos(), counts.turnedNanos(), counts.begun(), counts.forgotten() + less),
        log.failures(),
        log.communicators(),
        log.peers(),
        log.events(),
        all.subList(less, all.size()));
  }

  private static byte[] gzip(String text) throws IOException {
    var bytes = new ByteArrayOutputStream();
    try (var out = new GZIPOutputStream(bytes)) {
      out.write(text.getBytes(StandardCharsets.UTF_8));
    }
    return bytes.toByteArray();
  }
}
