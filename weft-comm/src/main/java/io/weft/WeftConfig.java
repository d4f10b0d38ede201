// SPDX-License-Identifier: Apache-2.0
package io.weft;

import io.weft.agent.AgentConfig;
import io.weft.cluster.Connections;
import io.weft.cluster.JobConfig;
import io.weft.cluster.SecureMode;
import io.weft.cluster.elastic.ElasticConfig;
import io.weft.cluster.elastic.OnFailure;
import io.weft.cluster.elastic.ShrinkQuorum;
import io.weft.cluster.watch.LivenessConfig;
import io.weft.collective.CollectiveConfig;
import io.weft.comm.CommException;
import io.weft.config.ConfigOption;
import io.weft.config.OptionProvider;
import io.weft.config.Settings;
import io.weft.file.ForeignFile;
import io.weft.flight.FlightConfig;
import io.weft.transport.limit.Span;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Properties;
import java.util.stream.Collectors;

/// Settings of this process. Every option (see `ConfigOption`) has one name everywhere; what the
/// program sets here goes before system properties, those before the environment, that before the
/// file which `WEFT_CONFIG_FILE` or `weft.config.file` names. The options are declared where they
/// are read (see `OptionProvider`); those that programs set most have methods here. Immutable;
/// never holds a secret.
public final class WeftConfig implements Settings {

  private final Map<ConfigOption<?>, Object> values;

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
    Objects.requireNonNull(environment, "environment");
    return new Builder(environment, System.getProperties());
  }

  /// What a text that was found at `origin` means as the value of an option. Throws
  /// `CommException.Setup` with what is allowed.
  public static <T> T parse(ConfigOption<T> option, String text, String origin) {
    Objects.requireNonNull(origin, "origin");
    try {
      return option.parse(text, origin);
    } catch (IllegalArgumentException refused) {
      throw new CommException.Setup(String.valueOf(refused.getMessage()), refused);
    }
  }

  @Override
  public <T> Optional<T> value(ConfigOption<T> option) {
    Object known = values.get(option);
    return known != null
        ? Optional.of(option.type().valueType().cast(known))
        : option.defaultText().map(text -> option.parse(text, "default"));
  }

  /// The settings that must be the same on all ranks, which would else not understand each other or
  /// take each other for lost, as `NAME=VALUE`. Of a file, what is in it counts.
  List<String> sameOnAllRanks() {
    return OptionProvider.all().stream()
        .filter(option -> option.scope() != ConfigOption.Scope.RANK)
        .map(option -> option.name() + "=" + said(option))
        .toList();
  }

  private String said(ConfigOption<?> option) {
    return option.scope() == ConfigOption.Scope.JOB
        ? words(option)
        : value(option).isPresent() ? "given" : "not given";
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

  /// `auto` or a transport's scheme; whether it exists is known when it is opened.
  public String transport() {
    return required(JobConfig.TRANSPORT);
  }

  /// Hard limit of every operation.
  public Duration deadline() {
    return required(CollectiveConfig.DEADLINE);
  }

  /// How long to wait until all ranks have joined.
  public Duration startDeadline() {
    return required(JobConfig.START_DEADLINE);
  }

  /// Longest time in which this rank sends a peer nothing; zero = it need not show that it lives,
  /// and nobody is given up for silence.
  public Duration heartbeat() {
    return required(LivenessConfig.HEARTBEAT);
  }

  /// How long a rank may be silent before it counts as lost; zero = for ever.
  public Duration silenceLimit() {
    return required(LivenessConfig.SILENCE_LIMIT);
  }

  /// What a lost rank means for the others.
  public OnFailure onFailure() {
    return required(ElasticConfig.ON_FAILURE);
  }

  /// How many of the ranks must be left after a loss to go on without the others.
  public ShrinkQuorum shrinkQuorum() {
    return required(ElasticConfig.SHRINK_QUORUM);
  }

  /// When ranks connect with each other.
  public Connections connections() {
    return required(JobConfig.CONNECTIONS);
  }

  /// Address to listen on; empty = loopback when all ranks are local, else this host's address
  /// towards the store.
  public Optional<String> bind() {
    return value(JobConfig.BIND);
  }

  /// File with the job's secret.
  public Optional<Path> secretFile() {
    return value(JobConfig.SECRET_FILE);
  }

  /// Whether connections are encrypted.
  public SecureMode secure() {
    return required(JobConfig.SECURE);
  }

  /// This rank's certificates; empty = it makes one for itself.
  public Optional<Path> tlsCertificate() {
    return value(JobConfig.TLS_CERTIFICATE);
  }

  /// The private key of `tlsCertificate`.
  public Optional<Path> tlsKey() {
    return value(JobConfig.TLS_KEY);
  }

  /// The authorities that vouch for ranks.
  public Optional<Path> tlsCa() {
    return value(JobConfig.TLS_CA);
  }

  /// `HOST:PORT` of the job's store.
  public Optional<String> store() {
    return value(JobConfig.STORE);
  }

  /// Name of the job.
  public Optional<String> job() {
    return value(JobConfig.JOB);
  }

  /// Polls before an idle thread yields; empty = chosen by the number of processors and ranks.
  public OptionalInt spin() {
    return required(AgentConfig.SPIN);
  }

  /// Bound of the staging memory.
  public long poolBytes() {
    return required(CollectiveConfig.POOL_BYTES);
  }

  /// Largest payload that travels inside a message; empty = as the transport says.
  public OptionalInt eagerBytes() {
    return required(CollectiveConfig.EAGER_BYTES);
  }

  /// Length of the segments in which large tensors travel; empty = by the table of algorithms.
  public OptionalInt segmentBytes() {
    return required(CollectiveConfig.SEGMENT_BYTES);
  }

  /// Rules which algorithm collectives take, before Weft's own.
  public Optional<Path> algorithms() {
    return value(CollectiveConfig.ALGORITHMS);
  }

  /// Where this rank leaves a file with its last operations when something fails; empty = nowhere.
  public Optional<Path> flightDir() {
    return value(FlightConfig.DIRECTORY);
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
      own.put(option, parse(option, text, "WeftConfig.Builder"));
      return this;
    }

    /// Sets `WeftConfig.transport`.
    public Builder transport(String scheme) {
      return set(JobConfig.TRANSPORT, scheme);
    }

    /// Sets `WeftConfig.deadline`.
    public Builder deadline(Duration limit) {
      return set(CollectiveConfig.DEADLINE, Span.millis(limit) + "ms");
    }

    /// Sets `WeftConfig.startDeadline`.
    public Builder startDeadline(Duration limit) {
      return set(JobConfig.START_DEADLINE, Span.millis(limit) + "ms");
    }

    /// Sets `WeftConfig.heartbeat`.
    public Builder heartbeat(Duration interval) {
      return set(LivenessConfig.HEARTBEAT, Span.millis(interval) + "ms");
    }

    /// Sets `WeftConfig.silenceLimit`.
    public Builder silenceLimit(Duration limit) {
      return set(LivenessConfig.SILENCE_LIMIT, Span.millis(limit) + "ms");
    }

    /// Sets `WeftConfig.onFailure`.
    public Builder onFailure(OnFailure then) {
      return set(ElasticConfig.ON_FAILURE, then.toString());
    }

    /// Sets `WeftConfig.shrinkQuorum`.
    public Builder shrinkQuorum(ShrinkQuorum quorum) {
      return set(ElasticConfig.SHRINK_QUORUM, quorum.toString());
    }

    /// Sets `WeftConfig.connections`.
    public Builder connections(Connections when) {
      return set(JobConfig.CONNECTIONS, when.toString());
    }

    /// Sets `WeftConfig.bind`.
    public Builder bind(String address) {
      return set(JobConfig.BIND, address);
    }

    /// Sets `WeftConfig.secretFile`.
    public Builder secretFile(Path file) {
      return set(JobConfig.SECRET_FILE, file.toString());
    }

    /// Sets `WeftConfig.secure`.
    public Builder secure(SecureMode mode) {
      return set(JobConfig.SECURE, mode.toString());
    }

    /// Sets `WeftConfig.tlsCertificate`.
    public Builder tlsCertificate(Path file) {
      return set(JobConfig.TLS_CERTIFICATE, file.toString());
    }

    /// Sets `WeftConfig.tlsKey`.
    public Builder tlsKey(Path file) {
      return set(JobConfig.TLS_KEY, file.toString());
    }

    /// Sets `WeftConfig.tlsCa`.
    public Builder tlsCa(Path file) {
      return set(JobConfig.TLS_CA, file.toString());
    }

    /// Sets `WeftConfig.store`.
    public Builder store(String hostAndPort) {
      return set(JobConfig.STORE, hostAndPort);
    }

    /// Sets `WeftConfig.job`.
    public Builder job(String name) {
      return set(JobConfig.JOB, name);
    }

    /// Sets `WeftConfig.spin`.
    public Builder spin(int polls) {
      return set(AgentConfig.SPIN, Integer.toString(polls));
    }

    /// Sets `WeftConfig.poolBytes`.
    public Builder poolBytes(long bytes) {
      return set(CollectiveConfig.POOL_BYTES, Long.toString(bytes));
    }

    /// Sets `WeftConfig.eagerBytes`.
    public Builder eagerBytes(long bytes) {
      return set(CollectiveConfig.EAGER_BYTES, Long.toString(bytes));
    }

    /// Sets `WeftConfig.segmentBytes`.
    public Builder segmentBytes(long bytes) {
      return set(CollectiveConfig.SEGMENT_BYTES, Long.toString(bytes));
    }

    /// Sets `WeftConfig.algorithms`.
    public Builder algorithms(Path file) {
      return set(CollectiveConfig.ALGORITHMS, file.toString());
    }

    /// Sets `WeftConfig.flightDir`.
    public Builder flightDir(Path directory) {
      return set(FlightConfig.DIRECTORY, directory.toString());
    }

    /// The settings: these, then system properties, environment and file, then defaults. Throws
    /// `CommException.Setup` as `load()` does.
    public WeftConfig build() {
      Settings found = SettingsFile.sources(environment, system);
      var values = new LinkedHashMap<ConfigOption<?>, Object>(own);
      try {
        for (ConfigOption<?> option : OptionProvider.all()) {
          if (!own.containsKey(option)) {
            found.value(option).ifPresent(value -> values.put(option, value));
          }
        }
        WeftConfig config = new WeftConfig(values);
        OptionProvider.checkAll(config);
        return config;
      } catch (IllegalArgumentException refused) {
        throw new CommException.Setup(String.valueOf(refused.getMessage()), refused);
      }
    }
  }
}
