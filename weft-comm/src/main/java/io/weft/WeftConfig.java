// SPDX-License-Identifier: Apache-2.0
package io.weft;

import io.weft.comm.CommException;
import io.weft.file.ForeignFile;
import io.weft.transport.limit.Span;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Properties;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/// Settings of this process. Every option (see `ConfigOption`) has one name everywhere; what the
/// program sets here goes before system properties, those before the environment, that before the
/// file which `WEFT_CONFIG_FILE` or `weft.config.file` names. Immutable; never holds a secret.
public final class WeftConfig {

  private final Map<ConfigOption<?>, Object> values;

  /// What a lost rank means for the others. Launcher and training act by it; `Weft.shrink` works
  /// with both.
  public enum OnFailure {
    /// The job ends.
    END,
    /// The job goes on with the ranks that are left.
    SHRINK;

    @Override
    public String toString() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  /// How many of the ranks must be left after a loss to go on without the others.
  public enum ShrinkQuorum {
    /// More than half, or half with the lowest rank among them: never two parts of one job.
    MAJORITY,
    /// However few. Where a network breaks, both sides go on.
    ANY;

    @Override
    public String toString() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  /// When the ranks of a job connect with each other.
  public enum Connections {
    /// All with all, before the job begins.
    ALL,
    /// Two of them when one first has something for the other.
    USED;

    @Override
    public String toString() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  /// Who moves the bytes of a long tensor from producer to consumer [JIA17 §3.2].
  public enum TransferProtocol {
    /// The consumer reads them out of the producer's memory: fewer messages.
    READ,
    /// The producer writes them into the consumer's memory, which the request names once the edge's
    /// type and shape are known.
    WRITE;

    @Override
    public String toString() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  /// How many receives share a request (SEASTAR in docs/papers.md).
  public enum TransferRequests {
    /// All that one duty cycle finds ready for a peer, answers alike.
    FUSED,
    /// One each; for measuring.
    SINGLE;

    @Override
    public String toString() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  private WeftConfig(Map<ConfigOption<?>, Object> values) {
    this.values = values;
  }

  /// Settings from system properties, environment and file. Throws `CommException.Setup` naming the
  /// option, where its value was found, the value and what is allowed.
  public static WeftConfig load() {
    return builder().build();
  }

  /// Settings from these sources. Throws as `load()` does.
  public static WeftConfig load(Map<String, String> environment, Properties system) {
    return new Builder(environment, system).build();
  }

  /// Settings of the program's own, over system properties, environment and file.
  public static Builder builder() {
    return new Builder(System.getenv(), System.getProperties());
  }

  /// The same with another environment.
  public static Builder builder(Map<String, String> environment) {
    return new Builder(environment, System.getProperties());
  }

  /// What an option is set to; empty = it depends on the job.
  public <T> Optional<T> value(ConfigOption<T> option) {
    return Optional.ofNullable(values.get(option)).map(option::cast);
  }

  /// The settings that must be the same on all ranks, which would else not understand each other or
  /// take each other for lost, as `NAME=VALUE`. Of a file, what is in it counts.
  ///
  /// @param host this one, whose ranks alone must have the same of some
  List<String> sameOnAllRanks(String host) {
    List<String> same =
        Stream.of(
                ConfigOption.EAGER_BYTES,
                ConfigOption.SEGMENT_BYTES,
                ConfigOption.ALGORITHMS,
                ConfigOption.HEARTBEAT,
                ConfigOption.SILENCE_LIMIT,
                ConfigOption.SHRINK_QUORUM,
                ConfigOption.PROGRESS_THREADS,
                ConfigOption.CONNECTIONS)
            .map(option -> option.name() + "=" + words(option))
            .collect(Collectors.toList());
    ConfigOption<Long> ofHost = ConfigOption.TCP_PIECE_BYTES;
    same.add("%s on %s=%s".formatted(ofHost.name(), host, words(ofHost)));
    return List.copyOf(same);
  }

  private String words(ConfigOption<?> option) {
    return value(option).map(WeftConfig::words).orElse("auto");
  }

  private static String words(Object value) {
    if (value instanceof OptionalInt number) {
      return number.isPresent() ? Integer.toString(number.getAsInt()) : "auto";
    }
    if (!(value instanceof Path file)) {
      return value.toString();
    }
    try {
      // Where the table is loaded it says what is wrong with the file.
      return "file#" + Integer.toHexString(ForeignFile.named(file).text(1 << 20).hashCode());
    } catch (IOException unreadable) {
      return "unreadable";
    }
  }

  /// What one transport alone has settings for: those options whose name begins with its scheme, by
  /// the rest of their name, as text.
  public Map<String, String> ofTransport(String scheme) {
    var settings = new LinkedHashMap<String, String>();
    values.forEach(
        (option, value) -> {
          if (option.name().startsWith(scheme + "-")) {
            settings.put(option.name().substring(scheme.length() + 1), value.toString());
          }
        });
    return settings;
  }

  /// `auto` or a transport's scheme; whether it exists is known when it is opened.
  public String transport() {
    return required(ConfigOption.TRANSPORT);
  }

  /// Hard limit of every operation.
  public Duration deadline() {
    return required(ConfigOption.DEADLINE);
  }

  /// How long to wait until all ranks have joined.
  public Duration startDeadline() {
    return required(ConfigOption.START_DEADLINE);
  }

  /// Longest time in which this rank sends a peer nothing; zero = it need not show that it lives,
  /// and nobody is given up for silence.
  public Duration heartbeat() {
    return required(ConfigOption.HEARTBEAT);
  }

  /// How long a rank may be silent before it counts as lost; zero = for ever.
  public Duration silenceLimit() {
    return required(ConfigOption.SILENCE_LIMIT);
  }

  /// What a lost rank means for the others.
  public OnFailure onFailure() {
    return required(ConfigOption.ON_FAILURE);
  }

  /// How many of the ranks must be left after a loss to go on without the others.
  public ShrinkQuorum shrinkQuorum() {
    return required(ConfigOption.SHRINK_QUORUM);
  }

  /// When ranks connect with each other.
  public Connections connections() {
    return required(ConfigOption.CONNECTIONS);
  }

  /// Address to listen on; empty = loopback when all ranks are local, else this host's address
  /// towards the store.
  public Optional<String> bind() {
    return value(ConfigOption.BIND);
  }

  /// File with the job's secret.
  public Optional<Path> secretFile() {
    return value(ConfigOption.SECRET_FILE);
  }

  /// Whether connections are encrypted.
  public SecureMode secure() {
    return required(ConfigOption.SECURE);
  }

  /// This rank's certificates; empty = it makes one for itself.
  public Optional<Path> tlsCertificate() {
    return value(ConfigOption.TLS_CERTIFICATE);
  }

  /// The private key of `tlsCertificate`.
  public Optional<Path> tlsKey() {
    return value(ConfigOption.TLS_KEY);
  }

  /// The authorities that vouch for ranks.
  public Optional<Path> tlsCa() {
    return value(ConfigOption.TLS_CA);
  }

  /// `HOST:PORT` of the job's store.
  public Optional<String> store() {
    return value(ConfigOption.STORE);
  }

  /// Name of the job.
  public Optional<String> job() {
    return value(ConfigOption.JOB);
  }

  /// Polls before an idle thread yields; empty = chosen by the number of processors and ranks.
  public OptionalInt spin() {
    return required(ConfigOption.SPIN);
  }

  /// Bound of the staging memory.
  public long poolBytes() {
    return required(ConfigOption.POOL_BYTES);
  }

  /// Largest payload that travels inside a message; empty = as the transport says.
  public OptionalInt eagerBytes() {
    return required(ConfigOption.EAGER_BYTES);
  }

  /// Length of the segments in which large tensors travel; empty = by the table of algorithms.
  public OptionalInt segmentBytes() {
    return required(ConfigOption.SEGMENT_BYTES);
  }

  /// Rules which algorithm collectives take, before Weft's own.
  public Optional<Path> algorithms() {
    return value(ConfigOption.ALGORITHMS);
  }

  /// Where this rank leaves a file with its last operations when something fails; empty = nowhere.
  public Optional<Path> flightDir() {
    return value(ConfigOption.FLIGHT_DIR);
  }

  /// One heartbeat may be late or wait behind something longer.
  private void checkHeartbeat() {
    if (!silenceLimit().isZero() && silenceLimit().compareTo(heartbeat().multipliedBy(2)) < 0) {
      throw new CommException.Setup(
          "option silence-limit: "
              + Span.millis(silenceLimit())
              + " ms is less than two heartbeats of "
              + Span.millis(heartbeat())
              + " ms (option heartbeat); raise the one or lower the other",
          null);
    }
  }

  private <T> T required(ConfigOption<T> option) {
    return value(option).orElseThrow();
  }

  /// All options that have a value, `name=value`.
  @Override
  public String toString() {
    return values.entrySet().stream()
        .map(entry -> entry.getKey().name() + "=" + entry.getValue())
        .collect(Collectors.joining(", ", "WeftConfig[", "]"));
  }

  /// Collects a program's own settings. Not thread-safe.
  public static final class Builder {

    private final Map<String, String> environment;
    private final Properties system;
    private final Map<ConfigOption<?>, Object> own = new LinkedHashMap<>();

    private Builder(Map<String, String> environment, Properties system) {
      this.environment = environment;
      this.system = system;
    }

    /// Sets any option. Throws `CommException.Setup` with what is allowed.
    public Builder set(ConfigOption<?> option, String text) {
      own.put(option, option.parse(text, "WeftConfig.Builder"));
      return this;
    }

    /// Sets `WeftConfig.transport`.
    public Builder transport(String scheme) {
      return set(ConfigOption.TRANSPORT, scheme);
    }

    /// Sets `WeftConfig.deadline`.
    public Builder deadline(Duration limit) {
      return set(ConfigOption.DEADLINE, Span.millis(limit) + "ms");
    }

    /// Sets `WeftConfig.startDeadline`.
    public Builder startDeadline(Duration limit) {
      return set(ConfigOption.START_DEADLINE, Span.millis(limit) + "ms");
    }

    /// Sets `WeftConfig.heartbeat`.
    public Builder heartbeat(Duration interval) {
      return set(ConfigOption.HEARTBEAT, Span.millis(interval) + "ms");
    }

    /// Sets `WeftConfig.silenceLimit`.
    public Builder silenceLimit(Duration limit) {
      return set(ConfigOption.SILENCE_LIMIT, Span.millis(limit) + "ms");
    }

    /// Sets `WeftConfig.onFailure`.
    public Builder onFailure(OnFailure then) {
      return set(ConfigOption.ON_FAILURE, then.toString());
    }

    /// Sets `WeftConfig.shrinkQuorum`.
    public Builder shrinkQuorum(ShrinkQuorum quorum) {
      return set(ConfigOption.SHRINK_QUORUM, quorum.toString());
    }

    /// Sets `WeftConfig.connections`.
    public Builder connections(Connections when) {
      return set(ConfigOption.CONNECTIONS, when.toString());
    }

    /// Sets `WeftConfig.bind`.
    public Builder bind(String address) {
      return set(ConfigOption.BIND, address);
    }

    /// Sets `WeftConfig.secretFile`.
    public Builder secretFile(Path file) {
      return set(ConfigOption.SECRET_FILE, file.toString());
    }

    /// Sets `WeftConfig.secure`.
    public Builder secure(SecureMode mode) {
      return set(ConfigOption.SECURE, mode.toString());
    }

    /// Sets `WeftConfig.tlsCertificate`.
    public Builder tlsCertificate(Path file) {
      return set(ConfigOption.TLS_CERTIFICATE, file.toString());
    }

    /// Sets `WeftConfig.tlsKey`.
    public Builder tlsKey(Path file) {
      return set(ConfigOption.TLS_KEY, file.toString());
    }

    /// Sets `WeftConfig.tlsCa`.
    public Builder tlsCa(Path file) {
      return set(ConfigOption.TLS_CA, file.toString());
    }

    /// Sets `WeftConfig.store`.
    public Builder store(String hostAndPort) {
      return set(ConfigOption.STORE, hostAndPort);
    }

    /// Sets `WeftConfig.job`.
    public Builder job(String name) {
      return set(ConfigOption.JOB, name);
    }

    /// Sets `WeftConfig.spin`.
    public Builder spin(int polls) {
      return set(ConfigOption.SPIN, Integer.toString(polls));
    }

    /// Sets `WeftConfig.poolBytes`.
    public Builder poolBytes(long bytes) {
      return set(ConfigOption.POOL_BYTES, Long.toString(bytes));
    }

    /// Sets `WeftConfig.eagerBytes`.
    public Builder eagerBytes(long bytes) {
      return set(ConfigOption.EAGER_BYTES, Long.toString(bytes));
    }

    /// Sets `WeftConfig.segmentBytes`.
    public Builder segmentBytes(long bytes) {
      return set(ConfigOption.SEGMENT_BYTES, Long.toString(bytes));
    }

    /// Sets `WeftConfig.algorithms`.
    public Builder algorithms(Path file) {
      return set(ConfigOption.ALGORITHMS, file.toString());
    }

    /// Sets `WeftConfig.flightDir`.
    public Builder flightDir(Path directory) {
      return set(ConfigOption.FLIGHT_DIR, directory.toString());
    }

    /// The settings: these, then system properties, environment and file, then defaults. Throws
    /// `CommException.Setup` as `load()` does.
    public WeftConfig build() {
      var sources = new ConfigSources(environment, system);
      var values = new LinkedHashMap<ConfigOption<?>, Object>();
      for (ConfigOption<?> option : ConfigOption.all()) {
        Object value = own.get(option);
        if (value == null) {
          value =
              sources
                  .find(option)
                  .or(() -> option.defaultText().map(t -> new ConfigSources.Found(t, "default")))
                  .<Object>map(found -> option.parse(found.text(), found.origin()))
                  .orElse(null);
        }
        if (value != null) {
          values.put(option, value);
        }
      }
      WeftConfig config = new WeftConfig(values);
      config.checkHeartbeat();
      return config;
    }
  }
}
