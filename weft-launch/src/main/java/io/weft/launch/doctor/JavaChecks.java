// SPDX-License-Identifier: Apache-2.0
package io.weft.launch.doctor;

import io.weft.tensor.kernel.Kernels;
import java.util.List;

/// Checks the Java that runs this process, and its privileges.
final class JavaChecks {

  private static final String AREA = "java";
  private static final int OLDEST = 25;

  private JavaChecks() {}

  static List<CheckResult> look() {
    return List.of(version(), kernels(), nativeAccess(), ClassCacheCheck.look());
  }

  private static CheckResult version() {
    String found = Runtime.version() + " in " + System.getProperty("java.home");
    return Runtime.version().feature() >= OLDEST
        ? CheckResult.works(AREA, "version", found)
        : CheckResult.missing(AREA, "version", found, "install JDK " + OLDEST + " or newer");
  }

  private static CheckResult kernels() {
    String kernels = Kernels.description();
    return kernels.startsWith("vector")
        ? CheckResult.works(AREA, "kernels", kernels)
        : CheckResult.limited(
            AREA, "kernels", kernels, "start Java with --add-modules jdk.incubator.vector");
  }

  private static CheckResult nativeAccess() {
    return JavaChecks.class.getModule().isNativeAccessEnabled()
        ? CheckResult.works(AREA, "native access", "enabled")
        : CheckResult.limited(
            AREA,
            "native access",
            "not enabled; Java warns, and later versions refuse",
            "start Java with --enable-native-access=ALL-UNNAMED");
  }
}
