// SPDX-License-Identifier: Apache-2.0
package io.weft.collective.service;

import io.weft.agent.AgentRunner;
import io.weft.collective.group.OperationSignature;
import io.weft.comm.CommException;
import io.weft.comm.CompletableHandle;
import io.weft.observer.ObservedOperation;
import io.weft.text.Printable;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/// The handle of a submitted operation. The thread that runs the agent completes it once. Any
/// thread may await it, and runs the agent itself while no other thread does.
sealed class PendingHandle<T> extends CompletableHandle<T> permits InlineOperation {

  private final MeshCommunicator owner;
  private final OperationName name;
  private final OperationSignature signature;
  private final CopyOut<T> copyOut;
  private final long id;
  private @Nullable ObservedOperation operation;
  private boolean endTold;

  PendingHandle(
      MeshCommunicator owner,
      OperationName name,
      OperationSignature signature,
      CopyOut<T> copyOut) {
    this.owner = owner;
    this.name = name;
    this.signature = signature;
    this.copyOut = copyOut;
    this.id = owner.collectives().nextOperation();
  }

  /// The work that remains after all ranks have done their part.
  interface CopyOut<T> {

    /// Converts the operation's result to the user's result. On the thread that runs the progress
    /// engine.
    T result(T brought);

    /// Called once when the operation has ended, with or without success.
    void end();

    /// Returns the copy-out without work.
    @SuppressWarnings("unchecked") // it gives what it is given
    static <T> CopyOut<T> none() {
      return (CopyOut<T>) NoCopyOut.NONE;
    }
  }

  private enum NoCopyOut implements CopyOut<Object> {
    NONE;

    @Override
    public Object result(Object brought) {
      return brought;
    }

    @Override
    public void end() {}
  }

  /// Converts the operation's result to the user's result. Throws the exceptions of a hook.
  final T copyOut(T brought) {
    return copyOut.result(brought);
  }

  final MeshCommunicator owner() {
    return owner;
  }

  /// Sets the operation of this handle. Before it is submitted.
  final void belongsTo(ObservedOperation its) {
    operation = its;
  }

  /// Notifies the observer, once, that the operation has ended. On the thread that runs the
  /// progress engine, or after that has ended.
  final void tellEnd(ObservedOperation its, @Nullable CommException cause) {
    if (!endTold) {
      endTold = true;
      owner.collectives().observer().ended(its, cause, runner().nanos());
    }
  }

  /// Returns the operation's number in its events.
  public final long id() {
    return id;
  }

  final OperationName operationName() {
    return name;
  }

  final OperationSignature signature() {
    return signature;
  }

  @Override
  protected final AgentRunner runner() {
    return owner.runner();
  }

  @Override
  protected final String description() {
    return owner.group().self() + ": " + Printable.of(signature.words() + " '" + name + "'");
  }

  /// Completes or fails the handle; only the first call counts. On the thread that runs the
  /// progress engine, or before that has taken the operation.
  final void finish(@Nullable T value, @Nullable CommException error) {
    if (isDone()) {
      return;
    }
    copyOut.end();
    name.giveBack(); // before another thread can see that the handle is done
    var unused = error == null ? complete(value) : fail(error);
  }

  /// Ends a handle whose operation is not submitted and which no caller has received.
  public void withdraw() {
    copyOut.end();
    name.giveBack();
  }

  /// Fails the handle, because the agent has ended without completing it. The agent may be
  /// completing it at this moment.
  @Override
  protected final synchronized void abandoned() {
    if (!isDone()) {
      CommException cause = owner.ended();
      tellEnd(Objects.requireNonNull(operation), cause);
      finish(null, cause);
    }
  }
}
