// SPDX-License-Identifier: Apache-2.0
package io.weft.launch.job;

import io.weft.cluster.LaunchEnvironment;
import io.weft.cluster.store.SecretFile;
import io.weft.launch.process.CleanupShell;
import io.weft.transport.spi.Secret;
import java.io.File;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/// The environment of each rank.
final class RankVariables {

  /// The flags that Weft needs of a rank's Java.
  static final String RANK_JAVA =
      "--add-modules=jdk.incubator.vector --enable-native-access=ALL-UNNAMED"
          + " -Dsun.misc.unsafe.memory.access=allow";

  /// The variable that makes a rank join a running job.
  static final String JOIN = "WEFT_JOIN";

  private static final String JAVA_OPTIONS = "JDK_JAVA_OPTIONS";
  private static final String LOCALE = "LC_ALL";
  private static final String SAVED_LOCALE = "WEFT_LC_ALL";
  private static final String UNSET = "unset";

  private final JobPlan plan;
  private final String job;
  private final Map<String, String> common;

  RankVariables(JobPlan plan, String store, String mark) {
    this.plan = plan;
    this.job = job(plan, mark);
    this.common = new HashMap<>(plan.environment());
    common.put("WEFT_STORE", store);
    common.put("WEFT_JOB", job);
    common.put(CleanupShell.VARIABLE, mark);
  }

  /// Returns the name of a job whose launcher has this mark.
  static String job(JobPlan plan, String mark) {
    return plan.config().job().orElse("weft-" + mark);
  }

  /// Returns a PATH with this process's Java first, and the flags that Weft needs, in a form that
  /// an older Java ignores. Options of the user are kept.
  private static Map<String, String> java(Map<String, String> environment) {
    var variables = new HashMap<String, String>();
    variables.put("PATH", pathOf(environment));
    if (!environment.containsKey(JAVA_OPTIONS)) {
      variables.put(JAVA_OPTIONS, RANK_JAVA);
    }
    return variables;
  }

  /// Returns a PATH of this process's Java, followed by the environment's.
  static String pathOf(Map<String, String> environment) {
    String bin = Path.of(System.getProperty("java.home"), "bin").toString();
    return bin + File.pathSeparator + environment.getOrDefault("PATH", "/usr/bin:/bin");
  }

  /// Returns the value of `LC_ALL` before the command changed it for its own Java; empty = it was
  /// not changed.
  private static Optional<String> locale() {
    return Optional.ofNullable(System.getenv(SAVED_LOCALE));
  }

  /// Returns this process's environment, without variables that make it a rank of another job.
  static Map<String, String> outside() {
    return LaunchEnvironment.outside(System.getenv());
  }

  String job() {
    return job;
  }

  /// Returns the variables of a rank on this host. They contain the secret's file, the directory of
  /// flight files, and the launcher, with whose end the rank ends.
  Map<String, String> here(RankPlacement placement, Path secret, Path flights) {
    var variables = new HashMap<String, String>();
    if (plan.program() == JobPlan.Program.ANY) {
      variables.putAll(java(System.getenv()));
      locale().filter(text -> !text.equals(UNSET)).ifPresent(text -> variables.put(LOCALE, text));
    }
    variables.putAll(common);
    variables.putAll(placement.variables());
    variables.put("WEFT_SECRET_FILE", secret.toString());
    variables.put("WEFT_FLIGHT_DIR", flights.toString());
    variables.put("WEFT_LAUNCHER_PID", Long.toString(ProcessHandle.current().pid()));
    return variables;
  }

  /// Returns the variables that a rank must not inherit: the secret itself, and the terminal if the
  /// rank's lines are prefixed.
  List<String> removedHere(RankPlacement placement) {
    boolean raw = plan.output().isRaw(placement.rank());
    var removed = new ArrayList<>(System.getenv().keySet());
    removed.removeAll(outside().keySet());
    removed.addAll(List.of(SecretFile.VARIABLE, SecretFile.HEX_VARIABLE, SAVED_LOCALE));
    if (plan.program() == JobPlan.Program.ANY && locale().filter(UNSET::equals).isPresent()) {
      removed.add(LOCALE);
    }
    if (!raw) {
      removed.add("WEFT_TERMINAL");
    }
    return removed;
  }

  /// Returns the variables of a rank on another host, including the secret itself and the settings
  /// of this process.
  Map<String, String> there(RankPlacement placement, Secret secret) {
    var variables = new HashMap<String, String>();
    outside()
        .forEach(
            (name, value) -> {
              if (name.matches("WEFT_[A-Z_]+")) {
                variables.put(name, value);
              }
            });
    variables
        .keySet()
        .removeAll(List.of("WEFT_SECRET_FILE", "WEFT_TERMINAL", "WEFT_LAUNCHER_PID", SAVED_LOCALE));
    variables.putAll(common);
    variables.putAll(placement.variables());
    variables.keySet().removeAll(List.of(SecretFile.VARIABLE, SecretFile.HEX_VARIABLE));
    variables.putAll(SecretFile.variables(secret));
    return variables;
  }
}
