// SPDX-License-Identifier: Apache-2.0
package io.weft.spark;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// The Java flags that executors need for Weft.
final class JavaFlags {

  static final String VECTORS = "--add-modules=jdk.incubator.vector";
  static final String NATIVES = "--enable-native-access=ALL-UNNAMED";

  /// All of them, in the order in which a command line has them.
  static final List<String> ALL =
      List.of(VECTORS, NATIVES, "--sun-misc-unsafe-memory-access=allow");

  private static final Logger LOG = LoggerFactory.getLogger(JavaFlags.class);

  // Several ranks may share a JVM, which has one set of flags.
  private static final AtomicBoolean WARNED = new AtomicBoolean();

  private JavaFlags() {}

  /// Warns once in each JVM of flags that are missing.
  static void warnOfMissing() {
    List<String> missing = missing();
    if (!missing.isEmpty() && WARNED.compareAndSet(false, true)) {
      LOG.warn(
          "this executor's Java runs without {}, so that reductions are slower or Java prints"
              + " warnings; build the SparkConf by WeftSpark.conf, or add the flags to"
              + " spark.executor.extraJavaOptions (in local mode to the driver's command line)",
          String.join(" ", missing));
    }
  }

  /// Returns the flags that this JVM does not have, as far as it can be told.
  static List<String> missing() {
    List<String> missing = new ArrayList<>();
    if (ModuleLayer.boot().findModule("jdk.incubator.vector").isEmpty()) {
      missing.add(VECTORS);
    }
    if (!JavaFlags.class.getModule().isNativeAccessEnabled()) {
      missing.add(NATIVES);
    }
    return missing;
  }

  /// Returns Java options with the flags that they lack.
  static String added(String options) {
    var all = new StringBuilder(options);
    for (String flag : ALL) {
      if (!options.contains(flag)) {
        all.append(all.isEmpty() ? "" : " ").append(flag);
      }
    }
    return all.toString();
  }
}
