package import Hosting
import JSON
package import Sharing

/// A desktop as one program has it: alone, or shared with other programs. It keeps no events for programs: what devices ask
/// it to show is in the history.
package enum SharedDesktop {
    /// Opens the desktop, or joins the program that has it. Blocks the caller.
    package static func open(
        _ options: String?, _ channel: HostChannel
    ) throws(HostError) -> (SharedRole<Desktop>, threaded: Bool) {
        let parsed = try DesktopOptions(parsing: options)
        let role = try SharedRole.open(
            try JSONObject(parameter: "options_json", options), parsed.common, parsed.sharing,
            as: parsed.applicationID, channel
        ) { (options, directory, channel, _) throws(HostError) in
            let text = JSONValue.object(options).serialized()
            return try Desktop.open(try DesktopOptions(parsing: text), directory, channel)
        }
        return (role, parsed.common.isThreaded)
    }
}
