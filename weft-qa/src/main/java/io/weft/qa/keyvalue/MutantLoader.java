// SPDX-License-Identifier: Apache-2.0
package io.weft.qa.keyvalue;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.LongFunction;
import javax.tools.ForwardingJavaFileManager;
import javax.tools.JavaCompiler;
import javax.tools.JavaFileManager;
import javax.tools.JavaFileObject;
import javax.tools.SimpleJavaFileObject;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;

/// The loader of a parameter server with a mutation. It compiles the mutated source and loads it
/// with all other classes of the parameter server and of its simulated jobs. All other classes come
/// from its parent.
final class MutantLoader extends ClassLoader {

  private static final String[] OWN = {"io.weft.kv.", "io.weft.qa.keyvalue.Faulty"};
  private static final String SHARED = "io.weft.kv.KvConfig"; // the settings that the parent knows
  private static final String[] SOURCES = {"weft-kv/src/main/java", "../weft-kv/src/main/java"};

  private final Map<String, byte[]> mutated;

  private MutantLoader(Map<String, byte[]> mutated, ClassLoader parent) {
    super("mutant", parent);
    this.mutated = mutated;
  }

  /// Returns a player of jobs in which a mutation is in effect. Reads the source below the current
  /// directory, which is the root of the project or of one of its modules.
  static LongFunction<List<String>> jobs(Mutation mutation) {
    ClassLoader parent = MutantLoader.class.getClassLoader();
    try {
      String source = Files.readString(source(mutation));
      var loader = new MutantLoader(compile(mutation, mutation.apply(source)), parent);
      Object jobs =
          loader.loadClass(FaultyJobs.class.getName()).getDeclaredConstructor().newInstance();
      return seed -> errors(((LongFunction<?>) jobs).apply(seed));
    } catch (IOException | ReflectiveOperationException broken) {
      throw new IllegalStateException(mutation + " cannot be loaded: " + broken, broken);
    }
  }

  private static List<String> errors(Object lines) {
    return ((List<?>) lines).stream().map(String::valueOf).toList();
  }

  private static Path source(Mutation mutation) throws IOException {
    for (String root : SOURCES) {
      Path file = Path.of(root, mutation.path());
      if (Files.exists(file)) {
        return file;
      }
    }
    throw new IOException(
        "no source " + mutation.path() + " below " + Path.of("").toAbsolutePath());
  }

  private static Map<String, byte[]> compile(Mutation mutation, String source) throws IOException {
    JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
    if (compiler == null) {
      throw new IOException("this Java has no compiler; a JDK is needed");
    }
    var file =
        new SimpleJavaFileObject(
            URI.create("string:///" + mutation.path()), JavaFileObject.Kind.SOURCE) {
          @Override
          public CharSequence getCharContent(boolean ignoreEncodingErrors) {
            return source;
          }
        };
    try (var memory = new Memory(compiler.getStandardFileManager(null, null, null))) {
      var options =
          List.of(
              "-proc:none",
              "-nowarn",
              "--add-modules",
              "jdk.incubator.vector",
              "-cp",
              System.getProperty("java.class.path"));
      if (!compiler.getTask(null, memory, null, options, null, List.of(file)).call()) {
        throw new IOException(mutation + " does not compile");
      }
      Map<String, byte[]> classes = new HashMap<>();
      memory.compiled.forEach((name, bytes) -> classes.put(name, bytes.toByteArray()));
      return classes;
    }
  }

  /// Keeps compiled classes in memory.
  private static final class Memory extends ForwardingJavaFileManager<StandardJavaFileManager> {
    private final Map<String, ByteArrayOutputStream> compiled = new HashMap<>();

    Memory(StandardJavaFileManager files) {
      super(files);
    }

    @Override
    public JavaFileObject getJavaFileForOutput(
        JavaFileManager.Location location,
        String name,
        JavaFileObject.Kind kind,
        javax.tools.FileObject sibling) {
      return new SimpleJavaFileObject(
          URI.create("mem:///" + name.replace('.', '/') + kind.extension), kind) {
        @Override
        public OutputStream openOutputStream() {
          var bytes = new ByteArrayOutputStream();
          compiled.put(name, bytes);
          return bytes;
        }
      };
    }
  }

  @Override
  protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
    if (!isOwn(name)) {
      return super.loadClass(name, resolve);
    }
    synchronized (getClassLoadingLock(name)) {
      Class<?> known = findLoadedClass(name);
      return known != null ? known : define(name);
    }
  }

  private static boolean isOwn(String name) {
    for (String own : OWN) {
      if (name.startsWith(own)) {
        return !name.equals(SHARED);
      }
    }
    return false;
  }

  private Class<?> define(String name) throws ClassNotFoundException {
    byte[] bytes = mutated.get(name);
    if (bytes == null) {
      try (InputStream in = getParent().getResourceAsStream(name.replace('.', '/') + ".class")) {
        if (in == null) {
          throw new ClassNotFoundException(name);
        }
        bytes = in.readAllBytes();
      } catch (IOException unreadable) {
        throw new ClassNotFoundException(name, unreadable);
      }
    }
    return defineClass(name, bytes, 0, bytes.length);
  }
}
