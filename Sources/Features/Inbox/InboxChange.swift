package import Notifications

/// A change that the host has made in the inbox, from the moment at which it is shown to that at which its desktop has
/// carried it out or refused.
///
/// A pure state machine. While it is `pending` its rows are shown as if it had been carried out. When the answer is lost
/// they come back as `uncertain`, until a refresh tells what they are.
package struct InboxChange: Sendable, Hashable {
    package typealias Kind = InboxEffect

    package enum Stage: Int64, Sendable, Hashable, CaseIterable {
        /// Its rows are shown as it wants them.
        case pending = 0
        /// Its rows are shown as they were, and as uncertain.
        case uncertain = 1
        /// Its rows are shown as they are; its command may still be carried out.
        case settled = 2
    }

    /// What has become of its command.
    package enum Ending: Sendable, Hashable {
        /// The desktop has carried it out.
        case done
        /// It was not carried out, and will not be.
        case refused
        /// Nobody knows whether it was carried out. `isKept`: it will be sent again under its id, which does no harm.
        case lost(isKept: Bool)
        /// It waits until the desktop can be reached.
        case queued
    }

    /// What is to be done with its rows.
    package enum Step: Sendable, Hashable {
        /// It is still there: show its rows as its stage says.
        case show
        /// It is over: its rows are as it wanted them.
        case apply
        /// It is over: its rows are as if it had never been.
        case putBack
    }

    package let kind: Kind
    package private(set) var stage: Stage
    /// Its command is in a queue that outlives this process.
    package private(set) var isKept: Bool

    package init(_ kind: Kind, stage: Stage = .pending, isKept: Bool = false) {
        self.kind = kind
        self.stage = stage
        self.isKept = isKept
    }

    package mutating func ended(_ ending: Ending) -> Step {
        switch (ending, stage) {
        case (.done, _): return .apply
        case (.refused, _): return .putBack
        case (.queued, _):
            isKept = true
            return .show
        case (.lost(let isKept), .pending), (.lost(let isKept), .uncertain):
            (stage, self.isKept) = (.uncertain, isKept)
            return .show
        case (.lost(let isKept), .settled):
            // What its rows are is known.
            self.isKept = isKept
            return isKept ? .show : .putBack
        }
    }

    /// A refresh has told what its rows are.
    package mutating func refreshed() -> Step {
        switch stage {
        case .pending, .settled: return .show
        case .uncertain:
            guard isKept else { return .putBack }
            stage = .settled
            return .show
        }
    }

    /// The process was restarted, so no call waits for the answer.
    ///
    /// - Parameter isKept: its command is still in the queue.
    package mutating func restarted(isKept: Bool) -> Step {
        self.isKept = isKept
        switch stage {
        case .pending:
            if !isKept { stage = .uncertain }
            return .show
        case .uncertain: return .show
        case .settled: return isKept ? .show : .putBack
        }
    }
}

extension InboxEffect {
    /// It is shown by marking rows; else by hiding them.
    var marks: Bool {
        switch self {
        case .read, .allRead: true
        case .delete, .clear: false
        }
    }
}

/// A row as it is shown: what its desktop has said of it, under the changes that are not answered.
package struct InboxView: Sendable, Hashable {
    package let isRead: Bool
    package let isHidden: Bool
    package let isUncertain: Bool

    package init(isRead saidRead: Bool, under changes: some Sequence<InboxChange>) {
        var (isRead, isHidden, isUncertain) = (saidRead, false, false)
        for change in changes {
            switch change.stage {
            case .pending: if change.kind.marks { isRead = true } else { isHidden = true }
            case .uncertain: isUncertain = true
            case .settled: break
            }
        }
        (self.isRead, self.isHidden, self.isUncertain) = (isRead, isHidden, isUncertain)
    }
}
