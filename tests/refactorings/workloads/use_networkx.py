"""Centralities, paths, trees and flows on random graphs."""
import networkx as nx

for seed in range(3):
    g = nx.gnp_random_graph(90, 0.08, seed=seed)
    g = g.subgraph(max(nx.connected_components(g), key=len)).copy()
    for u, v in g.edges:
        g[u][v]["weight"] = 1 + (u * v) % 7
        g[u][v]["capacity"] = 1 + (u + v) % 5
    nx.betweenness_centrality(g, weight="weight")
    nx.edge_betweenness_centrality(g)
    nx.closeness_centrality(g)
    dict(nx.all_pairs_dijkstra_path_length(g, weight="weight"))
    nx.minimum_spanning_tree(g)
    nx.maximum_flow(g, 0, max(g))
    nx.average_clustering(g)
    nx.core_number(g)
    nx.eccentricity(g)
    list(nx.algorithms.community.greedy_modularity_communities(g))
    list(nx.algorithms.community.label_propagation_communities(g))
    list(nx.find_cliques(g))
    nx.is_planar(g) if hasattr(nx, "is_planar") else nx.check_planarity(g)
    nx.greedy_color(g)
    nx.max_weight_matching(g)
    list(nx.bfs_edges(g, 0)), list(nx.dfs_edges(g, 0))
    d = nx.gn_graph(150, seed=seed)
    list(nx.topological_sort(d)), nx.transitive_closure(d), nx.dag_longest_path(d)
    list(nx.strongly_connected_components(d))
    nx.node_link_graph(nx.node_link_data(g))
    nx.bidirectional_shortest_path(g, 0, max(g))
    nx.astar_path(g, 0, max(g), weight="weight")
