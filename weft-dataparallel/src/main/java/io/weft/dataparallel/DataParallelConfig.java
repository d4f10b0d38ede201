// SPDX-License-Identifier: Apache-2.0
package io.weft.dataparallel;

import io.weft.config.ConfigOption;
import io.weft.config.ConfigOption.Scope;
import io.weft.config.ForeignVariable;
import io.weft.config.OptionProvider;
import io.weft.config.OptionType;
import java.time.Duration;
import java.util.List;
import java.util.Map;

/// The settings of data-parallel training. Stateless; any thread.
public final class DataParallelConfig implements OptionProvider {

  /// Horovod's variable; 0 turns tensor fusion off.
  private static final String THRESHOLD = "HOROVOD_FUSION_THRESHOLD";

  /// The setting that turns tensor fusion on or off.
  public static final ConfigOption<Fusion> FUSION =
      ConfigOption.of(
              "fusion",
              OptionType.choice(Fusion.class),
              "auto",
              "whether gradients that are ready on all ranks are fused: auto (by the table of"
                  + " algorithms), on (all), off (each is sent by itself, without negotiation, so"
                  + " that ranks cannot join)")
          .orVariable(new ForeignVariable(THRESHOLD, text -> isZero(text) ? "off" : ""))
          .sameOn(Scope.JOB);

  /// The length of the longest fusion buffer.
  public static final ConfigOption<Long> FUSION_THRESHOLD =
      ConfigOption.of(
              "fusion-threshold",
              OptionType.bytes(4096, 4L << 30),
              "64M",
              "length of the longest fusion buffer; a longer gradient is sent by itself")
          .orVariable(new ForeignVariable(THRESHOLD, text -> isZero(text) ? "" : text))
          .sameOn(Scope.JOB);

  /// The capacity of the response cache, in tensors.
  public static final ConfigOption<Integer> CACHE_CAPACITY =
      ConfigOption.of(
              "cache-capacity",
              OptionType.number(0, 65536),
              "1024",
              "capacity of the response cache, in tensors, whose names are sent only once; 0 ="
                  + " none")
          .orVariable(ForeignVariable.named("HOROVOD_CACHE_CAPACITY"))
          .sameOn(Scope.JOB);

  /// The wait for other ranks after which a stall is reported.
  public static final ConfigOption<Duration> STALL_CHECK_TIME =
      ConfigOption.of(
              "stall-check-time",
              OptionType.durationOrZero(1),
              "10s",
              "time to wait for other ranks until a warning names the waiting tensors and the"
                  + " missing ranks; 0 = never")
          .orVariable(ForeignVariable.inUnit("HOROVOD_STALL_CHECK_TIME_SECONDS", "s"));

  /// Creates the provider for `ServiceLoader`.
  public DataParallelConfig() {}

  private static boolean isZero(String text) {
    return text.strip().matches("0+");
  }

  @Override
  public List<ConfigOption<?>> options() {
    return List.of(FUSION, FUSION_THRESHOLD, CACHE_CAPACITY, STALL_CHECK_TIME);
  }

  @Override
  public Map<String, String> ignoredVariables() {
    String none = "Weft has no cycles: ranks negotiate as soon as a tensor waits";
    String always = "stalls are always checked; see --stall-check-time";
    String launcher = "that is the launcher's; see weft run --help";
    return Map.of(
        "HOROVOD_CYCLE_TIME", none,
        "HOROVOD_STALL_CHECK_DISABLE", always,
        "HOROVOD_STALL_SHUTDOWN_TIME_SECONDS", "a tensor fails after --deadline, on all ranks",
        "HOROVOD_HIERARCHICAL_ALLREDUCE", "the table of algorithms decides; see --algorithms",
        "HOROVOD_HIERARCHICAL_ALLGATHER", "the table of algorithms decides; see --algorithms",
        "HOROVOD_GLOO_RENDEZVOUS_ADDR", launcher,
        "HOROVOD_CONTROLLER", "there is one, which needs no other library",
        "HOROVOD_CPU_OPERATIONS", "--transport selects the transport",
        "HOROVOD_LOG_LEVEL", "Weft logs through SLF4J");
  }
}
