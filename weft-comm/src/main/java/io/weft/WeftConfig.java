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
import io.weft.rendezvous.RendezvousConfig;
import io.weft.rendezvous.RendezvousOptions;
import io.weft.transport.limit.ClampedDuration;
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

/// The settings of this process. Every option (see `ConfigOption`) has the same name in all
/// sources. A value that the program sets here takes precedence over system properties, then the
/// environment, then the file that `WEFT_CONFIG_FILE` or `weft.config.file` names. The package that
/// reads an option declares it (see `OptionProvider`). The options that programs set most often
/// have methods here. Immutable; it never contains a secret.
public final class WeftConfig implements Settings {

  private final Map<ConfigOption<?>, Object> values;

  private WeftConfig(Map<ConfigOption<?>, Object> values) {
    this.values = values;
  }

  /// Loads settings from system properties, environment and file. Throws `CommException.Setup`
  /// naming the option, the source of its value, the value and the allowed values.
  public static WeftConfig load() {
    return builder().build();
  }

  /// Loads settings from these sources. Throws as `load()` does.
  public static WeftConfig load(Map<String, String> environment, Properties system) {
    return new Builder(environment, system).build();
  }

  /// Returns a builder of a program's settings, on top of system properties, environment and file.
  public static Builder builder() {
    return new Builder(System.getenv(), System.getProperties());
  }

  /// Returns a builder with this environment instead of the process's.
  public static Builder builder(Map<String, String> environment) {
    Objects.requireNonNull(environment, "environment");
    return new Builder(environment, System.getProperties());
  }

  /// Parses a text that was found at `origin` as the value of an option. Throws
  /// `CommException.Setup` with the allowed values.
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

  /// Returns, as `NAME=VALUE`, the settings that must be equal on all ranks, because ranks would
  /// otherwise misunderstand each other or consider each other lost. The value of a file setting is
  /// a hash of the file. For an option of scope `PRESENCE` the value is `given` or `not given`.
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
      // Loading the table reports the cause.
      return "file#" + Integer.toHexString(ForeignFile.named(file).text(1 << 20).hashCode());
    } catch (IOException unreadable) {
      return "unreadable";
    }
  }

  /// `auto` or a transport's scheme. Opening the transport checks that it exists.
  public String transport() {
    return required(JobConfig.TRANSPORT);
  }

  /// Hard limit of every operation.
  public Duration deadline() {
    return required(CollectiveConfig.DEADLINE);
  }

  /// Longest wait until all ranks have joined.
  public Duration startDeadline() {
    return required(JobConfig.START_DEADLINE);
  }

  /// Longest interval in which this rank sends nothing to a peer. Zero means that ranks send no
  /// heartbeats and that silence never counts as a loss.
  public Duration heartbeat() {
    return required(LivenessConfig.HEARTBEAT);
  }

  /// Longest silence of a rank before the others consider it lost; zero = unlimited.
  public Duration silenceLimit() {
    return required(LivenessConfig.SILENCE_LIMIT);
  }

  /// Reaction of the other ranks to the loss of a rank.
  public OnFailure onFailure() {
    return required(ElasticConfig.ON_FAILURE);
  }

  /// Share of the ranks that must remain after a loss for them to continue without the others.
  public ShrinkQuorum shrinkQuorum() {
    return required(ElasticConfig.SHRINK_QUORUM);
  }

  /// Time at which ranks connect with each other.
  public Connections connections() {
    return required(JobConfig.CONNECTIONS);
  }

  /// Address to listen on; empty = loopback if all ranks are local, otherwise this host's address
  /// towards the store.
  public Optional<String> bind() {
    return value(JobConfig.BIND);
  }

  /// File with the job's secret.
  public Optional<Path> secretFile() {
    return value(JobConfig.SECRET_FILE);
  }

  /// Encryption of the connections.
  public SecureMode secure() {
    return required(JobConfig.SECURE);
  }

  /// This rank's certificates; empty = this rank creates one.
  public Optional<Path> tlsCertificate() {
    return value(JobConfig.TLS_CERTIFICATE);
  }

  /// The private key of `tlsCertificate`.
  public Optional<Path> tlsKey() {
    return value(JobConfig.TLS_KEY);
  }

  /// The authorities that sign the certificates of ranks.
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

  /// Polls before an idle thread yields; empty = derived from the numbers of processors and ranks.
  public OptionalInt spin() {
    return required(AgentConfig.SPIN);
  }

  /// Bound of the idle staging memory that this rank keeps for reuse, in bytes.
  public long poolBytes() {
    return required(CollectiveConfig.POOL_BYTES);
  }

  /// Largest payload that travels inside a message, in bytes; empty = the transport's default.
  public OptionalInt eagerBytes() {
    return required(CollectiveConfig.EAGER_BYTES);
  }

  /// The options of the transfers between ranks.
  RendezvousOptions rendezvous() {
    return new RendezvousOptions(
        required(RendezvousConfig.PROTOCOL),
        required(RendezvousConfig.REQUESTS),
        required(RendezvousConfig.QUEUE),
        required(RendezvousConfig.MEMORY),
        eagerBytes());
  }

  /// Length of the segments in which large tensors travel, in bytes; empty = by the rule table.
  public OptionalInt segmentBytes() {
    return required(CollectiveConfig.SEGMENT_BYTES);
  }

  /// File with rules that select algorithms of collectives, before the built-in rules.
  public Optional<Path> algorithms() {
    return value(CollectiveConfig.ALGORITHMS);
  }

  /// Lists all options that have a value, as `name=value`.
  @Override
  public String toString() {
    return values.entrySet().stream()
        .map(entry -> entry.getKey().name() + "=" + entry.getValue())
        .collect(Collectors.joining(", ", "WeftConfig[", "]"));
  }

  /// A builder of the settings that a program makes. Not thread-safe.
  public static final class Builder {

    private final Map<String, String> environment;
    private final Properties system;
    private final Map<ConfigOption<?>, Object> own = new LinkedHashMap<>();

    private Builder(Map<String, String> environment, Properties system) {
      this.environment = environment;
      this.system = system;
    }

    /// Sets any option. Throws `CommException.Setup` with the allowed values.
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
      return set(CollectiveConfig.DEADLINE, ClampedDuration.millis(limit) + "ms");
    }

    /// Sets `WeftConfig.startDeadline`.
    public Builder startDeadline(Duration limit) {
      return set(JobConfig.START_DEADLINE, ClampedDuration.millis(limit) + "ms");
    }

    /// Sets `WeftConfig.heartbeat`.
    public Builder heartbeat(Duration interval) {
      return set(LivenessConfig.HEARTBEAT, ClampedDuration.millis(interval) + "ms");
    }

    /// Sets `WeftConfig.silenceLimit`.
    public Builder silenceLimit(Duration limit) {
      return set(LivenessConfig.SILENCE_LIMIT, ClampedDuration.millis(limit) + "ms");
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

    /// Builds the settings from these values, then system properties, environment and file, then
    /// defaults. Throws `CommException.Setup` as `load()` does.
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
