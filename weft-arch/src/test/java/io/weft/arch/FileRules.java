// SPDX-License-Identifier: Apache-2.0
package io.weft.arch;

import static com.tngtech.archunit.base.DescribedPredicate.describe;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaAccess;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.lang.ArchRule;
import java.util.List;
import java.util.Set;

/// The rules for opening files. The package `io.weft.file` opens them: it does not wait for pipes,
/// does not follow foreign links, and does not leave partly written files.
final class FileRules {

  /// The classes that read the kernel's files below `/proc` and `/sys`, which other users cannot
  /// replace.
  private static final Set<String> OF_THE_KERNEL =
      Set.of(
          "io.weft.cluster.HostIdentity",
          "io.weft.cluster.Processors",
          "io.weft.cluster.watch.ProcessIdentity",
          "io.weft.launch.doctor.SystemFiles",
          "io.weft.launch.process.JobProcesses",
          "io.weft.perf.rank.CompilerWatch",
          "io.weft.shm.ExtentPool",
          "io.weft.shm.ProcessDomain",
          "io.weft.perf.tensorflow.GrpcPorts",
          "io.weft.transport.limit.OpenFiles",
          "io.weft.verbs.device.MemoryLock",
          "io.weft.verbs.ffm.Ibverbs",
          "io.weft.workloads.report.MeasuredHost");

  /// The classes that write to directories that they have created for their user only.
  private static final Set<String> IN_PRIVATE_DIRECTORIES =
      Set.of(
          "io.weft.cluster.store.FileStore",
          "io.weft.cluster.store.JobDirectory",
          "io.weft.launch.job.LaunchDirectory",
          "io.weft.spark.ml.RowFile",
          "io.weft.perf.peer.FlightRocksServer");

  /// The classes that list directories of the installed system, or directories that they have
  /// created.
  private static final Set<String> OF_THE_SYSTEM =
      Set.of(
          "io.weft.launch.doctor.RdmaDevice",
          "io.weft.launch.doctor.RdmaLibrary",
          "io.weft.launch.doctor.RdmaPort",
          "io.weft.launch.doctor.TensorFlowCheck",
          "io.weft.tensorflow.saved.WholeDirectory");

  private FileRules() {}

  static List<ArchRule> all() {
    return List.of(
        noClasses()
            .that(describe("open no files of the kernel", FileRules::isBound))
            .should()
            .accessTargetWhere(READING)
            .because(
                "another user may have put a pipe, a link or an endless file there: use"
                    + " ForeignFile"),
        noClasses()
            .that(describe("write outside private directories", FileRules::isBoundToWrite))
            .should()
            .accessTargetWhere(WRITING)
            .because("another user may have put a link there: use NewFile"),
        noClasses()
            .that(describe("list no directories of the system", FileRules::isBoundToList))
            .should()
            .accessTargetWhere(LISTING)
            .because("a pipe in place of a directory may block: use ForeignDirectory"));
  }

  private static boolean isBoundToWrite(JavaClass type) {
    return isBound(type) && !IN_PRIVATE_DIRECTORIES.contains(outermost(type));
  }

  private static boolean isBoundToList(JavaClass type) {
    return isBoundToWrite(type) && !OF_THE_SYSTEM.contains(outermost(type));
  }

  private static String outermost(JavaClass type) {
    return type.getFullName().replaceAll("\\$.*", "");
  }

  private static boolean isBound(JavaClass type) {
    String name = outermost(type);
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

  private static final DescribedPredicate<JavaAccess<?>> WRITING =
      describe(
          "a file is opened to be written, or a directory is made with those above it",
          access ->
              access
                  .getTarget()
                  .getFullName()
                  .matches(
                      "java\\.nio\\.file\\.Files\\.(write.*|newOutputStream|newBufferedWriter"
                          + "|createDirectories|createFile|copy)\\(.*"
                          + "|java\\.nio\\.channels\\.(FileChannel|AsynchronousFileChannel)\\.open\\(.*"
                          + "|java\\.io\\.(FileWriter|PrintStream|PrintWriter)\\.<init>\\((java\\.io\\.File[,)]|java\\.lang\\.String).*"
                          + "|java\\.io\\.FileOutputStream\\.<init>\\((java\\.io\\.File[,)]|java\\.lang\\.String).*"));

  private static final DescribedPredicate<JavaAccess<?>> LISTING =
      describe(
          "a directory is listed",
          access ->
              (access.getTargetOwner().getFullName() + "." + access.getTarget().getName())
                  .matches(
                      "java\\.nio\\.file\\.Files\\.(newDirectoryStream|list|walk|walkFileTree|find)"
                          + "|java\\.io\\.File\\.(list|listFiles)"));
}
