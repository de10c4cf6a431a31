import Testing

@testable import RelayService

@Suite("Metrics and the times of a drain")
struct MetricsTests {
    @Test("the text is what Prometheus reads")
    func text() {
        var histogram = Histogram([0.5, 1])
        for value in [0.1, 0.5, 0.75, 7] { histogram.observe(value) }
        var page = MetricsText()
        page.counter("a_total", "A.", 3)
        page.counter("b_total", "B.", by: "reason", [("x", 1), ("q\"\\\n", 2)])
        page.gauge("c", "C.", 0.25)
        page.gauge("d_info", "D.", labels: [("version", "1")])
        page.histogram("e_seconds", "E.", histogram)
        #expect(
            page.text == """
                # HELP a_total A.
                # TYPE a_total counter
                a_total 3
                # HELP b_total B.
                # TYPE b_total counter
                b_total{reason="x"} 1
                b_total{reason="q\\"\\\\\\n"} 2
                # HELP c C.
                # TYPE c gauge
                c 0.25
                # HELP d_info D.
                # TYPE d_info gauge
                d_info{version="1"} 1
                # HELP e_seconds E.
                # TYPE e_seconds histogram
                e_seconds_bucket{le="0.5"} 2
                e_seconds_bucket{le="1"} 3
                e_seconds_bucket{le="+Inf"} 4
                e_seconds_sum 8.35
                e_seconds_count 4

                """)
    }

    @Test("connections are closed evenly over the time; a few take less of it; all are closed")
    func drain() {
        var schedule = DrainSchedule(connections: 1_000, milliseconds: 5_000)
        let counts = stride(from: 0, through: 5_000, by: 500).map { schedule.due(after: UInt64($0)) }
        #expect(counts == [0] + Array(repeating: 100, count: 10) && schedule.isOver)
        var few = DrainSchedule(connections: 3, milliseconds: 60_000)
        #expect([0, 10, 20, 30].map { few.due(after: $0) } == [0, 1, 1, 1] && few.isOver)
        var late = DrainSchedule(connections: 10, milliseconds: 100)
        #expect(late.due(after: 50) == 5)
        #expect(late.due(after: 40) == 0)
        #expect(late.due(after: 9_000) == 5 && late.isOver)
        var atOnce = DrainSchedule(connections: 10, milliseconds: 0)
        #expect(atOnce.due(after: 0) == 10 && atOnce.isOver)
        var none = DrainSchedule(connections: 0, milliseconds: 5_000)
        #expect(none.due(after: 0) == 0 && none.isOver)
    }
}
