// SPDX-License-Identifier: Apache-2.0
package io.weft.qa.arch;

import static com.tngtech.archunit.base.DescribedPredicate.describe;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaAccess;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.lang.ArchRule;
import java.util.List;
import java.util.Set;

/// Where files are opened: by the package `io.weft.file`, which waits for no pipe, follows no link
/// that others have put there and leaves nothing half-written.
final class FileRules {

  /// Classes that read what the kernel makes below `/proc` and `/sys`, of which nobody else can
  /// make anything, and the last part of their names.
  private static final Set<String> OF_THE_KERNEL =
      Set.of(
          "io.weft.cluster.HostIdentity",
          "io.weft.cluster.Processors",
          "io.weft.cluster.watch.ProcessIdentity",
          "io.weft.launch.doctor.SystemFiles",
          "io.weft.launch.process.JobProcesses",
          "io.weft.perf.report.BenchmarkHost",
          "io.weft.perf.rank.CompilerWatch",
          "io.weft.shm.ExtentPool",
          "io.weft.shm.ProcessDomain",
          "io.weft.perf.tensorflow.GrpcPorts",
          "io.weft.transport.limit.OpenFiles",
          "io.weft.verbs.device.MemoryLock",
          "io.weft.verbs.ffm.Ibverbs",
          "io.weft.workloads.report.TrainingHost");

  private FileRules() {}

  static List<ArchRule> all() {
    return List.of(
        noClasses()
            .that(describe("open no files of the kernel", FileRules::isBound))
            .should()
            .accessTargetWhere(READING)
            .because(
                "what somebody else may have put there is no pipe, no link and not endless:"
                    + " ForeignFile"));
  }

  private static boolean isBound(JavaClass type) {
    String name = type.getFullName().replaceAll("\\$.*", "");
    return !OF_THE_KERNEL.contains(name)
        && !name.startsWith("io.weft.file.")
        && !name.startsWith("io.weft.testkit.")
        && !name.startsWith("io.weft.qa.");
  }

  private static final DescribedPredicate<JavaAccess<?>> READING =
      describe(
          "a file is opened to be read",
          access ->
              (access.getTargetOwner().getFullName() + "." + access.getTarget().getName())
                  .matches(
                      "java\\.nio\\.file\\.Files\\.(readAll.*|readString|lines|newInputStream"
                          + "|newBufferedReader|newByteChannel)"
                          + "|java\\.io\\.(FileInputStream|FileReader|RandomAccessFile)\\.<init>"));
}
