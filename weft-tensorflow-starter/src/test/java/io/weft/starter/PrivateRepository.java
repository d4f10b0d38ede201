// SPDX-License-Identifier: Apache-2.0
package io.weft.starter;

import java.io.File;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.jar.JarOutputStream;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;
import java.util.zip.ZipEntry;
import javax.xml.parsers.DocumentBuilderFactory;
import javax.xml.parsers.ParserConfigurationException;
import javax.xml.xpath.XPathException;
import javax.xml.xpath.XPathFactory;
import javax.xml.xpath.XPathNodes;
import org.w3c.dom.Node;
import org.xml.sax.SAXException;

/// A local Maven repository with Weft as this build has made it. All other artifacts are links to
/// the build's repository, so the user's own repository does not see Weft.
record PrivateRepository(Path directory) implements AutoCloseable {

  private static final String GROUP = "weft";
  private static final String OWNER = "io";

  /// The artifact whose dependencies include all others that a project with a starter needs.
  private static final String STARTER = "weft-tensorflow-starter";

  private static final String DEPENDENCIES =
      "/project/dependencies/dependency[not(scope='test')]/artifactId";

  static PrivateRepository create(Path directory) throws IOException {
    Path shared = Path.of(System.getProperty("it.repository"));
    link(shared, directory, OWNER);
    link(shared.resolve(OWNER), directory.resolve(OWNER), GROUP);
    var repository = new PrivateRepository(directory);
    Path root = Path.of("").toAbsolutePath().getParent();
    Files.copy(root.resolve("pom.xml"), repository.file("weft", ".pom"));
    for (String artifact : withDependencies(root)) {
      Files.copy(root.resolve(artifact).resolve("pom.xml"), repository.file(artifact, ".pom"));
      repository.install(artifact, built(root.resolve(artifact)));
    }
    return repository;
  }

  /// Returns the starter and the modules of this build at {@code root} that it depends on, directly
  /// or through other modules.
  private static Set<String> withDependencies(Path root) throws IOException {
    Set<String> found = new LinkedHashSet<>();
    Deque<String> unread = new ArrayDeque<>(List.of(STARTER));
    while (!unread.isEmpty()) {
      String artifact = unread.remove();
      Path pom = root.resolve(artifact).resolve("pom.xml");
      if (Files.exists(pom) && found.add(artifact)) {
        unread.addAll(dependencies(pom));
      }
    }
    return found;
  }

  private static List<String> dependencies(Path pom) throws IOException {
    try {
      var document = DocumentBuilderFactory.newInstance().newDocumentBuilder().parse(pom.toFile());
      var nodes =
          XPathFactory.newInstance()
              .newXPath()
              .evaluateExpression(DEPENDENCIES, document, XPathNodes.class);
      return StreamSupport.stream(nodes.spliterator(), false).map(Node::getTextContent).toList();
    } catch (ParserConfigurationException | SAXException | XPathException e) {
      throw new IOException("cannot read the dependencies in " + pom, e);
    }
  }

  /// Links all entries except one.
  private static void link(Path from, Path to, String except) throws IOException {
    Files.createDirectories(to);
    try (DirectoryStream<Path> entries = Files.newDirectoryStream(from)) {
      for (Path entry : entries) {
        if (!entry.getFileName().toString().equals(except)) {
          Files.createSymbolicLink(to.resolve(entry.getFileName()), entry.toAbsolutePath());
        }
      }
    }
  }

  private Path file(String artifact, String end) throws IOException {
    String version = System.getProperty("it.version");
    Path folder = directory.resolve(OWNER).resolve(GROUP).resolve(artifact).resolve(version);
    return Files.createDirectories(folder).resolve(artifact + "-" + version + end);
  }

  /// Returns the module's entry on this test's class path: its jar, or its directory of classes
  /// before the jar is built. Returns the default directory for a module without classes.
  private static Path built(Path module) {
    return Stream.of(System.getProperty("java.class.path").split(File.pathSeparator))
        .map(Path::of)
        .filter(entry -> entry.startsWith(module.resolve("target")))
        .filter(entry -> !entry.endsWith("test-classes"))
        .findFirst()
        .orElse(module.resolve("target").resolve("classes"));
  }

  private void install(String artifact, Path built) throws IOException {
    Path jar = file(artifact, ".jar");
    if (Files.isRegularFile(built)) {
      Files.copy(built, jar);
      return;
    }
    List<Path> files = List.of();
    if (Files.isDirectory(built)) {
      try (Stream<Path> all = Files.walk(built)) {
        files = all.filter(Files::isRegularFile).toList();
      }
    }
    try (OutputStream out = Files.newOutputStream(jar);
        var entries = new JarOutputStream(out)) {
      entries.putNextEntry(new ZipEntry("META-INF/"));
      for (Path file : files) {
        entries.putNextEntry(new ZipEntry(built.relativize(file).toString()));
        Files.copy(file, entries);
      }
    }
  }

  /// Removes the links, so that a deletion of the directory cannot follow them.
  @Override
  public void close() throws IOException {
    unlink(directory);
    unlink(directory.resolve(OWNER));
  }

  private static void unlink(Path directory) throws IOException {
    try (DirectoryStream<Path> links = Files.newDirectoryStream(directory, Files::isSymbolicLink)) {
      for (Path link : links) {
        Files.delete(link);
      }
    }
  }
}
