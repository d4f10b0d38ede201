// SPDX-License-Identifier: Apache-2.0
package io.weft;

import io.weft.comm.CommException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/// One setting, as data: the command line, the environment, the file and the documentation all read
/// it from here. `start-deadline` is `--start-deadline`, `WEFT_START_DEADLINE` and
/// `weft.start.deadline`. Immutable.
///
/// @param <T> what its text means
public final class ConfigOption<T> {

  /// Which transport carries the tensors.
  public static final ConfigOption<String> TRANSPORT =
      new ConfigOption<>(
          "transport",
          String.class,
          "auto",
          OptionTexts::scheme,
          "transport to use: auto, or the name of one on the class path: shm, tcp, inproc, verbs");

  /// Hard limit of one operation.
  public static final ConfigOption<Duration> DEADLINE =
      new ConfigOption<>(
          "deadline",
          Duration.class,
          "60s",
          OptionTexts::positiveDuration,
          "hard limit of every operation; when it passes, all ranks fail");

  /// Limit of joining the job.
  public static final ConfigOption<Duration> START_DEADLINE =
      new ConfigOption<>(
          "start-deadline",
          Duration.class,
          "60s",
          OptionTexts::positiveDuration,
          "how long to wait until all ranks have joined");

  /// Longest time in which a rank sends a peer nothing.
  public static final ConfigOption<Duration> HEARTBEAT =
      new ConfigOption<>(
          "heartbeat",
          Duration.class,
          "1s",
          text -> OptionTexts.durationOrZero(text, Duration.ofMillis(20)),
          "a rank that has nothing to send shows this often that it lives; 0 = never, and nobody is"
              + " given up for silence");

  /// How long a rank may be silent.
  public static final ConfigOption<Duration> SILENCE_LIMIT =
      new ConfigOption<>(
          "silence-limit",
          Duration.class,
          "5s",
          text -> OptionTexts.durationOrZero(text, Duration.ofMillis(40)),
          "a rank that is silent for longer counts as lost; at least two heartbeats, 0 = never");

  /// What a lost rank means for the others.
  public static final ConfigOption<WeftConfig.OnFailure> ON_FAILURE =
      new ConfigOption<>(
          "on-failure",
          WeftConfig.OnFailure.class,
          "end",
          text -> OptionTexts.choice(text, WeftConfig.OnFailure.values()),
          "when a rank is lost: end the job, or shrink it to the ranks that are left");

  /// How many ranks may go on after a loss.
  public static final ConfigOption<WeftConfig.ShrinkQuorum> SHRINK_QUORUM =
      new ConfigOption<>(
          "shrink-quorum",
          WeftConfig.ShrinkQuorum.class,
          "majority",
          text -> OptionTexts.choice(text, WeftConfig.ShrinkQuorum.values()),
          "how many of the ranks must be left to go on without the others: majority (or half of"
              + " them with the lowest rank), or any, where a loss is a crash for certain");

  /// When ranks connect with each other.
  public static final ConfigOption<WeftConfig.Connections> CONNECTIONS =
      new ConfigOption<>(
          "connections",
          WeftConfig.Connections.class,
          "all",
          text -> OptionTexts.choice(text, WeftConfig.Connections.values()),
          "when two ranks connect: all, before the job begins, or used, when one first has"
              + " something for the other; the same on all ranks");

  /// Where to listen.
  public static final ConfigOption<String> BIND =
      new ConfigOption<>(
          "bind",
          String.class,
          null,
          OptionTexts::nonBlank,
          "address to listen on; by default loopback when all ranks are local, else this host's"
              + " address towards the store");

  /// File that holds the job's secret.
  public static final ConfigOption<Path> SECRET_FILE =
      new ConfigOption<>(
          "secret-file",
          Path.class,
          null,
          text -> Path.of(OptionTexts.nonBlank(text)),
          "file with the job's secret, readable by its owner alone");

  /// Whether connections are encrypted.
  public static final ConfigOption<SecureMode> SECURE =
      new ConfigOption<>(
          "secure",
          SecureMode.class,
          "auto",
          SecureMode::of,
          "encrypt connections by TLS 1.3: on, off, or auto, which is off on loopback alone; the"
              + " same on all ranks");

  /// Certificates of this rank.
  public static final ConfigOption<Path> TLS_CERTIFICATE =
      new ConfigOption<>(
          "tls-certificate",
          Path.class,
          null,
          text -> Path.of(OptionTexts.nonBlank(text)),
          "PEM file with this rank's certificate and those between it and an authority; by default"
              + " each rank makes one for itself");

  /// Private key of this rank.
  public static final ConfigOption<Path> TLS_KEY =
      new ConfigOption<>(
          "tls-key",
          Path.class,
          null,
          text -> Path.of(OptionTexts.nonBlank(text)),
          "PEM file with the private key of --tls-certificate (PKCS #8, not encrypted), readable by"
              + " its owner alone");

  /// Who vouches for ranks.
  public static final ConfigOption<Path> TLS_CA =
      new ConfigOption<>(
          "tls-ca",
          Path.class,
          null,
          text -> Path.of(OptionTexts.nonBlank(text)),
          "PEM file with the certificates of the authorities that vouch for ranks");

  /// Where ranks find each other.
  public static final ConfigOption<String> STORE =
      new ConfigOption<>(
          "store",
          String.class,
          null,
          OptionTexts::hostAndPort,
          "HOST:PORT of the store where ranks find each other");

  /// Name of the job.
  public static final ConfigOption<String> JOB =
      new ConfigOption<>(
          "job",
          String.class,
          null,
          OptionTexts::nonBlank,
          "name of the job, the same on all ranks");

  /// How often an idle thread polls before it yields.
  public static final ConfigOption<OptionalInt> SPIN =
      new ConfigOption<>(
          "spin",
          OptionalInt.class,
          "auto",
          OptionTexts::autoOrCount,
          "polls before an idle thread yields: auto, or a count (0 = never spin)");

  /// Which services share a progress thread.
  public static final ConfigOption<ServiceThreads> PROGRESS_THREADS =
      new ConfigOption<>(
          "progress-threads",
          ServiceThreads.class,
          "collectives+rendezvous+channel",
          ServiceThreads::parse,
          "which services run on a progress thread of their own, with connections of their own:"
              + " joined by + on one thread, separated by commas on several; the same on all"
              + " ranks");

  /// Bound of the staging memory.
  public static final ConfigOption<Long> POOL_BYTES =
      new ConfigOption<>(
          "pool-bytes",
          Long.class,
          "512M",
          text -> OptionTexts.bytes(text, 1 << 20, 1L << 40),
          "idle registered staging memory that this rank keeps for reuse");

  /// Largest payload that travels inside a message.
  public static final ConfigOption<OptionalInt> EAGER_BYTES =
      new ConfigOption<>(
          "eager-bytes",
          OptionalInt.class,
          "auto",
          text -> OptionTexts.autoOrBytes(text, 8, 1 << 20),
          "largest payload that travels inside a message: auto (by the transport), or a size");

  /// Length of a segment.
  public static final ConfigOption<OptionalInt> SEGMENT_BYTES =
      new ConfigOption<>(
          "segment-bytes",
          OptionalInt.class,
          "auto",
          text -> OptionTexts.autoOrBytes(text, 1 << 12, 1 << 26),
          "length of the segments in which large tensors travel between ranks: auto (by the table"
              + " of algorithms), or a size");

  /// What two ranks of a host send each other at once over TCP.
  public static final ConfigOption<Long> TCP_PIECE_BYTES =
      new ConfigOption<>(
          "tcp-piece-bytes",
          Long.class,
          "128K",
          text -> OptionTexts.powerOfTwo(OptionTexts.bytes(text, 1 << 16, 1 << 20)),
          "what two ranks of one host send each other at once over TCP, the same on both");

  /// Rules that come before the shipped ones.
  public static final ConfigOption<Path> ALGORITHMS =
      new ConfigOption<>(
          "algorithms",
          Path.class,
          null,
          text -> Path.of(OptionTexts.nonBlank(text)),
          "file with rules which algorithm collectives take, before Weft's own, on all ranks");

  /// Where flight files go.
  public static final ConfigOption<Path> FLIGHT_DIR =
      new ConfigOption<>(
          "flight-dir",
          Path.class,
          null,
          text -> Path.of(OptionTexts.nonBlank(text)),
          "directory where each rank leaves a file with its last operations when something fails");

  /// How long tensors of a rendezvous move.
  public static final ConfigOption<WeftConfig.TransferProtocol> RENDEZVOUS_PROTOCOL =
      new ConfigOption<>(
          "rendezvous-protocol",
          WeftConfig.TransferProtocol.class,
          "read",
          text -> OptionTexts.choice(text, WeftConfig.TransferProtocol.values()),
          "how this rank receives long tensors of a rendezvous: read (it reads them), or write"
              + " (their producer writes them)");

  /// Whether receives share requests.
  public static final ConfigOption<WeftConfig.TransferRequests> RENDEZVOUS_REQUESTS =
      new ConfigOption<>(
          "rendezvous-requests",
          WeftConfig.TransferRequests.class,
          "fused",
          text -> OptionTexts.choice(text, WeftConfig.TransferRequests.values()),
          "receives that are ready together leave as one request: fused, or single");

  /// Bound of the memory of received tensors.
  public static final ConfigOption<Long> RENDEZVOUS_MEMORY =
      new ConfigOption<>(
          "rendezvous-memory",
          Long.class,
          "4G",
          text -> OptionTexts.bytes(text, 1 << 16, 1L << 42),
          "most memory of received tensors of a rendezvous, taken as it is needed");

  /// Which RDMA device.
  public static final ConfigOption<String> VERBS_DEVICE =
      new ConfigOption<>(
          "verbs-device",
          String.class,
          null,
          OptionTexts::nonBlank,
          "RDMA device of the transport verbs, such as mlx5_0; by default the first with an active"
              + " port");

  /// Which port of it.
  public static final ConfigOption<Integer> VERBS_PORT =
      new ConfigOption<>(
          "verbs-port",
          Integer.class,
          "0",
          text -> OptionTexts.number(text, 0, 255),
          "port of the RDMA device; 0 = the first active one");

  /// Which address of that port.
  public static final ConfigOption<Integer> VERBS_GID_INDEX =
      new ConfigOption<>(
          "verbs-gid-index",
          Integer.class,
          "-1",
          text -> OptionTexts.number(text, -1, 65_535),
          "place of the address in the GID table of the RDMA port; -1 = the preferred one");

  /// How much memory an endpoint registers.
  public static final ConfigOption<Long> VERBS_RING_BYTES =
      new ConfigOption<>(
          "verbs-ring-bytes",
          Long.class,
          "1M",
          text -> OptionTexts.powerOfTwo(OptionTexts.bytes(text, 1 << 19, 1 << 30)),
          "length of each of the two RDMA rings of an endpoint, a power of two; the same on all"
              + " ranks");

  /// How long a device waits.
  public static final ConfigOption<Integer> VERBS_TIMEOUT =
      new ConfigOption<>(
          "verbs-timeout",
          Integer.class,
          "16",
          text -> OptionTexts.number(text, 1, 31),
          "how long an RDMA device waits for an answer: 4.096 us times two to this power");

  /// How often it asks again.
  public static final ConfigOption<Integer> VERBS_RETRIES =
      new ConfigOption<>(
          "verbs-retries",
          Integer.class,
          "7",
          text -> OptionTexts.number(text, 0, 7),
          "how often an RDMA device asks again before the endpoint is lost");

  /// How often it asks again who was not ready.
  public static final ConfigOption<Integer> VERBS_RECEIVER_RETRIES =
      new ConfigOption<>(
          "verbs-receiver-retries",
          Integer.class,
          "7",
          text -> OptionTexts.number(text, 0, 7),
          "how often an RDMA device asks again a peer that had no receive posted; 7 = for ever");

  /// How queue pairs share memory and threads.
  public static final ConfigOption<Integer> VERBS_MODEL =
      new ConfigOption<>(
          "verbs-model",
          Integer.class,
          "3",
          text -> OptionTexts.number(text, 1, 3),
          "how RDMA queue pairs share memory and threads: 1 = one send buffer for all; 2 = the same"
              + " and a thread that polls; 3 = a send buffer for each");

  /// Memory of the transport that stays registered.
  public static final ConfigOption<Long> VERBS_POOL_BYTES =
      new ConfigOption<>(
          "verbs-pool-bytes",
          Long.class,
          "64M",
          text -> OptionTexts.bytes(text, 0, 1L << 40),
          "most memory of the transport that stays registered with an RDMA device while no region"
              + " has it; 0 = each region is registered by itself");

  /// Memory of others that stays registered.
  public static final ConfigOption<Long> VERBS_CACHE_BYTES =
      new ConfigOption<>(
          "verbs-cache-bytes",
          Long.class,
          "256M",
          text -> OptionTexts.bytes(text, 0, 1L << 40),
          "most memory of programs that stays registered with an RDMA device while no region has"
              + " it; 0 = each region is registered by itself");

  private static final List<ConfigOption<?>> ALL =
      List.of(
          TRANSPORT,
          DEADLINE,
          START_DEADLINE,
          HEARTBEAT,
          SILENCE_LIMIT,
          ON_FAILURE,
          SHRINK_QUORUM,
          CONNECTIONS,
          BIND,
          SECRET_FILE,
          SECURE,
          TLS_CERTIFICATE,
          TLS_KEY,
          TLS_CA,
          STORE,
          JOB,
          SPIN,
          PROGRESS_THREADS,
          POOL_BYTES,
          EAGER_BYTES,
          SEGMENT_BYTES,
          TCP_PIECE_BYTES,
          ALGORITHMS,
          FLIGHT_DIR,
          RENDEZVOUS_PROTOCOL,
          RENDEZVOUS_REQUESTS,
          RENDEZVOUS_MEMORY,
          VERBS_DEVICE,
          VERBS_PORT,
          VERBS_GID_INDEX,
          VERBS_RING_BYTES,
          VERBS_TIMEOUT,
          VERBS_RETRIES,
          VERBS_RECEIVER_RETRIES,
          VERBS_MODEL,
          VERBS_POOL_BYTES,
          VERBS_CACHE_BYTES);

  private final String name;
  private final Class<T> type;
  private final @Nullable String defaultText;
  private final Function<String, T> parser;
  private final String help;

  private ConfigOption(
      String name,
      Class<T> type,
      @Nullable String defaultText,
      Function<String, T> parser,
      String help) {
    this.name = name;
    this.type = type;
    this.defaultText = defaultText;
    this.parser = parser;
    this.help = help;
  }

  /// Every option, in the order of the documentation.
  public static List<ConfigOption<?>> all() {
    return ALL;
  }

  /// Lower case, words joined by hyphens.
  public String name() {
    return name;
  }

  /// `--` and the name.
  public String flag() {
    return "--" + name;
  }

  /// The environment's variable.
  public String variable() {
    return "WEFT_" + name.toUpperCase(Locale.ROOT).replace('-', '_');
  }

  /// The system property, which is also the key in a file.
  public String property() {
    return "weft." + name.replace('-', '.');
  }

  /// The value that holds when nothing is said, as text; empty = it depends on the job, see `help`.
  public Optional<String> defaultText() {
    return Optional.ofNullable(defaultText);
  }

  /// Whether its value names a file or directory, which a process elsewhere needs as a whole path.
  public boolean isPath() {
    return type.equals(Path.class);
  }

  /// One line for people.
  public String help() {
    return help;
  }

  /// Reads a value. Throws `CommException.Setup` naming the option, `origin` (where the text was
  /// found), the text and what is allowed.
  public T parse(String text, String origin) {
    try {
      return parser.apply(text);
    } catch (IllegalArgumentException refused) {
      throw new CommException.Setup(
          "option " + name + ": '" + text + "' from " + origin + " " + refused.getMessage(),
          refused);
    }
  }

  /// The name that is most like a mistyped one; empty where none is.
  public static Optional<String> nearest(String mistyped, Collection<String> names) {
    return names.stream()
        .filter(name -> OptionTexts.distance(mistyped, name) <= Math.max(1, name.length() / 4))
        .min(
            Comparator.comparingInt((String name) -> OptionTexts.distance(mistyped, name))
                .thenComparing(Comparator.naturalOrder()));
  }

  T cast(Object value) {
    return type.cast(value);
  }

  @Override
  public String toString() {
    return name;
  }
}
